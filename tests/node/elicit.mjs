// The protocol's own TypeScript client as a host with forms: node elicit.mjs MCP_URL TOKEN ANSWER. It lets its person
// answer whatever it is asked during one call, and prints the forms and the result.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const [serverUrl, token, answer] = process.argv.slice(2)
const forms = []
const client = new Client({ name: 'TypeScript host', version: '1' }, { capabilities: { elicitation: { form: {} } } })
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  forms.push(params)
  return answer === 'yes' ? { action: 'accept', content: { answer: true } } : { action: answer }
})
const requestInit = { headers: { Authorization: `Bearer ${token}` } }
await client.connect(new StreamableHTTPClientTransport(new URL(serverUrl), { requestInit }))
console.log('connected')
const { structuredContent } = await client.callTool({ name: 'reset_calendar_feed', arguments: {} })
await client.close()
console.log(JSON.stringify({ forms, answer: structuredContent }))
