// The TypeScript SDK: typescript.mjs MCP_URL sdk|client, the first major version or the client of the second.
import { readFileSync } from 'node:fs'
import { buildProvider, readStatus, runAll, signIn, spoil, tell } from './steps.mjs'

const [url, which] = process.argv.slice(2)
const isOne = which === 'sdk'
const load = async (path) => await import(isOne ? `@modelcontextprotocol/sdk/client/${path}` : '@modelcontextprotocol/client')
const { auth } = await load('auth.js')
const { Client } = await load('index.js')
const { StreamableHTTPClientTransport } = await load('streamableHttp.js')
const provider = buildProvider('TypeScript client')
let heard = 0

const connect = async () => {
  const client = new Client({ name: 'TypeScript client', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider: provider }))
  return client
}
const count = async (client) => (await client.listTools()).tools.length
await signIn(auth, provider, url)
const client = await connect()
const tools = await count(client)
const options = { onprogress: () => void (heard += 1) }
const call = async (name, args) => {
  const params = { name, arguments: args }
  return readStatus(await (isOne ? client.callTool(params, undefined, options) : client.callTool(params, options)))
}
const done = await runAll(call)
await client.close()
const isRotated = spoil(provider.kept)
const refreshed = (await count(await connect())) === tools && isRotated()
const about = JSON.parse(readFileSync(`node_modules/@modelcontextprotocol/${which}/package.json`, 'utf8'))
tell({ version: about.version, tools, ...done, progress: heard, refreshed, sign_in: 'OAuth' })
