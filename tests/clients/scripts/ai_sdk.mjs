// The AI SDK's client: ai_sdk.mjs MCP_URL, with its own sign-in, and its tools as a model is shown them.
import { readFileSync } from 'node:fs'
import { auth, createMCPClient } from '@ai-sdk/mcp'
import { asSchema } from 'ai'
import { buildProvider, readStatus, runAll, signIn, spoil, tell } from './steps.mjs'

const [url] = process.argv.slice(2)
const provider = buildProvider('AI SDK')
const connect = () => createMCPClient({ transport: { type: 'http', url, authProvider: provider } })
await signIn(auth, provider, url)
const client = await connect()
const tools = await client.tools()
const schemas = await Promise.all(Object.values(tools).map(async (tool) => await asSchema(tool.inputSchema).jsonSchema))
if (schemas.some((schema) => schema.type !== 'object')) throw new Error('a schema is none')
const call = async (name, args) => readStatus(await tools[name].execute(args, { toolCallId: 'a', messages: [] }))
const done = await runAll(call)
await client.close()
const isRotated = spoil(provider.kept)
const again = Object.keys(await (await connect()).tools()).length
const refreshed = again === Object.keys(tools).length && isRotated()
const about = JSON.parse(readFileSync('node_modules/@ai-sdk/mcp/package.json', 'utf8'))
tell({ version: about.version, tools: again, ...done, refreshed, sign_in: 'OAuth' })
