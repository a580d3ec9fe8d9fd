// The protocol's own TypeScript client: node sdk.mjs MCP_URL [CLIENT_ID_URL]. It finds the authorization server by
// itself, registers or names its document, prints the address a person must visit, reads where that led, lists tools,
// and does the same again with nothing but its refresh token.
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createInterface } from 'node:readline/promises'

const [serverUrl, clientMetadataUrl] = process.argv.slice(2)
const redirectUrl = 'http://127.0.0.1:9/callback'
const kept = {}
const provider = {
  redirectUrl,
  clientMetadataUrl,
  clientMetadata: { client_name: 'TypeScript client', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
  state: () => 'a state',
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  redirectToAuthorization: (url) => void (kept.url = url),
}

async function countTools() {
  const client = new Client({ name: 'TypeScript client', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(serverUrl), { authProvider: provider }))
  const { tools } = await client.listTools()
  await client.close()
  return tools.length
}

if ((await auth(provider, { serverUrl })) !== 'REDIRECT') throw new Error('no way to the person')
console.log(kept.url.href)
const lines = createInterface({ input: process.stdin })
const landed = new URL(await lines.question(''))
lines.close()
const done = await auth(provider, { serverUrl, authorizationCode: landed.searchParams.get('code'), iss: landed.searchParams.get('iss') })
if (done !== 'AUTHORIZED') throw new Error(done)
const before = await countTools()

const old = kept.tokens
kept.tokens = { ...old, access_token: 'awt_at_gone' }
const after = await countTools()
if (kept.tokens.refresh_token === old.refresh_token) throw new Error('no rotation')
console.log(JSON.stringify({ client_id: kept.client.client_id, before, after, scope: kept.tokens.scope }))
