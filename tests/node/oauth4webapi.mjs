// A strict client of its own mind: node oauth4webapi.mjs ISSUER RESOURCE. Prints the address a person must visit, reads
// where that led, and goes on to tokens, identity, refresh and revocation. Any deviation from the standards is an error.
import * as oauth from 'oauth4webapi'
import { createInterface } from 'node:readline/promises'

const [issuer, resource] = process.argv.slice(2)
const redirect = 'http://127.0.0.1:9/callback'
const http = { [oauth.allowInsecureRequests]: true }
const check = (holds, words) => {
  if (!holds) throw new Error(words)
}

const found = {}
for (const algorithm of ['oauth2', 'oidc']) {
  const answer = await oauth.discoveryRequest(new URL(issuer), { algorithm, ...http })
  found[algorithm] = await oauth.processDiscoveryResponse(new URL(issuer), answer)
}
const server = found.oidc
check(JSON.stringify(found.oauth2) === JSON.stringify(server), 'two discovery documents')

const registration = await oauth.dynamicClientRegistrationRequest(
  server,
  { client_name: 'Strict client', redirect_uris: [redirect], token_endpoint_auth_method: 'none' },
  http,
)
const client = await oauth.processDynamicClientRegistrationResponse(registration)
check(client.token_endpoint_auth_method === 'none' && !('client_secret' in client), 'a secret')

const verifier = oauth.generateRandomCodeVerifier()
const nonce = oauth.generateRandomNonce()
const state = oauth.generateRandomState()
const address = new URL(server.authorization_endpoint)
for (const [name, value] of Object.entries({
  client_id: client.client_id,
  redirect_uri: redirect,
  response_type: 'code',
  scope: 'openid email',
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
  state,
  nonce,
  max_age: '300',
  resource,
})) address.searchParams.set(name, value)
console.log(address.href)

const lines = createInterface({ input: process.stdin })
const landed = new URL(await lines.question(''))
lines.close()

const params = oauth.validateAuthResponse(server, client, landed, state)
const answer = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), params, redirect, verifier, {
  additionalParameters: { resource },
  ...http,
})
const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
  expectedNonce: nonce,
  maxAge: 300,
  requireIdToken: true,
})
await oauth.validateApplicationLevelSignature(server, answer, http)
const claims = oauth.getValidatedIdTokenClaims(tokens)

const asked = await oauth.userInfoRequest(server, client, tokens.access_token, http)
const person = await oauth.processUserInfoResponse(server, client, claims.sub, asked)
check(person.email === claims.email && person.email_verified === true, 'another person')

const again = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token, http)
const fresh = await oauth.processRefreshTokenResponse(server, client, again)
check(fresh.refresh_token !== tokens.refresh_token && !('id_token' in fresh), 'no rotation, or an identity token')

const ended = await oauth.revocationRequest(server, client, oauth.None(), fresh.refresh_token, http)
await oauth.processRevocationResponse(ended)
const late = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), fresh.refresh_token, http)
const error = await oauth.processRefreshTokenResponse(server, client, late).catch((reason) => reason)
check(error.error === 'invalid_grant', `after revocation: ${error}`)
console.log(JSON.stringify({ sub: claims.sub, email: claims.email, scope: tokens.scope }))
