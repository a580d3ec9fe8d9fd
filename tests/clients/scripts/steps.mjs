// What every client here is asked to do, and how a script talks to the test that started it, line by line.
import { createInterface } from 'node:readline'

const day = new Date(Date.now() + 60 * 86_400_000).toISOString().slice(0, 10)
export const CALLS = {
  fact: ['list_transfer_partners', { program: 'amex-membership-rewards' }],
  write: ['update_points_balance', { program: 'flying-blue', balance: 1000 }],
  invalid: ['search_availability', { origin: 'LHR' }],
  candidates: ['add_card', { card: 'platinum' }],
  search: ['search_availability', { airline: 'BA', origin: 'LHR', destination: 'JFK', date: day }],
}
// The last line of the one text is the data.
export const readStatus = (answer) => {
  const texts = answer.content.filter((block) => block.type === 'text')
  if (texts.length !== 1) throw new Error(`${texts.length} texts`)
  return JSON.parse(texts[0].text.trim().split('\n').at(-1)).status
}
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const ask = async (line) => {
  console.log(line)
  return (await lines.next()).value
}
export const visit = (address) => ask(`visit ${address}`)
export const restart = () => ask('restart')
export const tell = (results) => {
  console.log(`result ${JSON.stringify(results)}`)
  process.exit(0)
}
// Tokens and client in memory, and a person who goes where `visit` leads.
export const redirectUrl = 'http://127.0.0.1:9/callback'
export const buildProvider = (name, kept = {}) => ({
  kept,
  redirectUrl,
  clientMetadata: { client_name: name, redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
  state: () => 'a state',
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  redirectToAuthorization: (url) => void (kept.url = url),
})
// Signs in with the client's own `auth`; the address is where a person is sent.
export const signIn = async (auth, provider, serverUrl) => {
  if ((await auth(provider, { serverUrl })) !== 'REDIRECT') throw new Error('no way to the person')
  const landed = new URL(await visit(provider.kept.url.href)).searchParams
  const more = { authorizationCode: landed.get('code'), iss: landed.get('iss'), callbackState: landed.get('state') }
  if ((await auth(provider, { serverUrl, ...more })) !== 'AUTHORIZED') throw new Error('not signed in')
}
export const runAll = async (call) => {
  const calls = {}
  for (const [step, [name, args]] of Object.entries(CALLS)) calls[step] = await call(name, args)
  await restart()
  return { calls, restarted: await call(...CALLS.fact) }
}
export const spoil = (kept) => {
  const old = kept.tokens
  kept.tokens = { ...old, access_token: 'awt_at_gone' }
  return () => kept.tokens.refresh_token !== old.refresh_token
}
