// mcp-remote between a client on standard streams and the service: mcp_remote.mjs MCP_URL PORT FOLDER, its own sign-in.
import { readFileSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { readStatus, runAll, tell, visit } from './steps.mjs'

const [url, port, folder] = process.argv.slice(2)
const transport = new StdioClientTransport({
  command: process.execPath,
  args: ['node_modules/mcp-remote/dist/proxy.js', url, port, '--allow-http', '--transport', 'http-only'],
  env: { PATH: '/nonexistent', HOME: folder, MCP_REMOTE_CONFIG_DIR: folder },
  stderr: 'pipe',
})
let said = ''
let asked = false
transport.stderr.on('data', async (part) => {
  said += part
  const address = said.match(/https?:\/\/\S+\/oauth\/authorize\?\S+/)
  if (!address || asked || !/\s$/.test(said)) return
  asked = true
  await fetch(await visit(address[0]))
})
const client = new Client({ name: 'behind mcp-remote', version: '1' })
await client.connect(transport, { timeout: 120_000 }).catch((error) => {
  throw new Error(`${error.message}\n${said}`)
})
let heard = 0
const { tools } = await client.listTools()
const options = { onprogress: () => void (heard += 1) }
const call = async (name, args) => readStatus(await client.callTool({ name, arguments: args }, undefined, options))
const done = await runAll(call)
await client.close()
const about = JSON.parse(readFileSync('node_modules/mcp-remote/package.json', 'utf8'))
tell({ version: about.version, tools: tools.length, ...done, progress: heard, sign_in: 'OAuth' })
