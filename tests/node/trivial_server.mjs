// The TypeScript SDK as it comes, for the bench: node trivial_server.mjs PORT. One tool that does nothing, no sessions,
// answers in JSON; as the SDK's examples do, each request has a server and a transport of its own.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createServer } from 'node:http'
import { z } from 'zod'

function trivial() {
  const server = new McpServer({ name: 'trivial', version: '1' })
  server.registerTool('add', { inputSchema: { a: z.number().int(), b: z.number().int() } }, ({ a, b }) => {
    const data = { status: 'ok', sum: a + b }
    return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data }
  })
  return server
}

createServer(async (request, response) => {
  if (request.method !== 'POST') return response.writeHead(405).end()
  const server = trivial()
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
  response.on('close', () => void server.close())
  await server.connect(transport)
  await transport.handleRequest(request, response)
}).listen(Number(process.argv[2]), '127.0.0.1')
