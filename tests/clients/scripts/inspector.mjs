// The Inspector's command line: inspector.mjs MCP_URL TOKEN. What it warns of is counted.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { CALLS, readStatus, restart, tell } from './steps.mjs'

const [url, token] = process.argv.slice(2)
const about = JSON.parse(readFileSync('node_modules/@modelcontextprotocol/inspector/package.json', 'utf8'))
const program = `node_modules/@modelcontextprotocol/inspector/${Object.values(about.bin)[0]}`
let warnings = 0
const run = (...more) => {
  const head = [program, '--cli', url, '--transport', 'http', '--header', `Authorization: Bearer ${token}`]
  const done = spawnSync(process.execPath, [...head, ...more], { encoding: 'utf8', maxBuffer: 1 << 26 })
  warnings += (done.stderr.match(/portab|warning/gi) ?? []).length
  const from = done.stdout.indexOf('{')
  if (from < 0) throw new Error(`${done.stdout}${done.stderr}`)
  return JSON.parse(done.stdout.slice(from))
}
const tools = run('--method', 'tools/list').tools.length
const call = (name, args) => {
  const pairs = Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`])
  return readStatus(run('--method', 'tools/call', '--tool-name', name, ...pairs))
}
const calls = Object.fromEntries(Object.entries(CALLS).map(([step, [name, args]]) => [step, call(name, args)]))
await restart()
tell({ version: about.version, tools, calls, restarted: call(...CALLS.fact), warnings, sign_in: 'bearer' })
