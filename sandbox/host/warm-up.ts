import { TO_GUEST } from '#sandbox/protocol/grammars.ts'
import { RecordWriter } from '#sandbox/protocol/records.ts'

const LIMITS = { cpuMs: 500, resultBytes: 1000, logLineLength: 400, logLines: 10 }
const CONFIG = {
  ...LIMITS,
  site: { siteId: 'site', siteDomain: 'site.test' },
  env: {},
  handler: 'default',
  entry: 'main.js',
  moved: {},
  nowMs: 1,
}

/** What functions use most. Nothing that waits: it would go on while V8 already writes the snapshot. */
const HANDLER = `({ payload }, ctx) => {
  console.log('warm', payload, 1, typeof ctx)
  const url = new URL('https://site.test/path?name=Ada')
  url.searchParams.get('name')
  const headers = new Headers({ 'content-type': 'text/plain' })
  const request = new Request(url, { method: 'POST', headers, body: 'text' })
  const response = Response.json({ method: request.method }, { status: 201 })
  new TextDecoder().decode(new TextEncoder().encode('text'))
  return { payload, status: response.status, type: response.headers.get('content-type') }
}`

/**
 * A function's life from its first call to its answer, in a context of its own that is thrown away: V8 compiles what that
 * needs of the prelude and keeps the code in the snapshot, so that the first call of a site need not wait for it.
 */
export function warmUpScript(): string {
  const call = new RecordWriter(TO_GUEST)
  call.add('call', [1, 0], ['work', 'request', 'null', '{"payload":{"name":"Ada"}}'])
  return `
    const { boot, run, take } = __croft
    boot(${JSON.stringify(JSON.stringify(CONFIG))}, (size) => new ArrayBuffer(size), () => {}, () => {}, (domain) => domain)
    __croftLoaded({ default: ${HANDLER} })
    take()
    run(${JSON.stringify(call.take())}, 1, 125, 1)
    take()
  `
}
