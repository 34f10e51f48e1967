import process from 'node:process'

import { type HostOptions, runHost } from './host/host.ts'

const SEVERED_MS = 100

/**
 * Entry of a host process. Its options come as one line of JSON on stdin, which then stays open: when it ends, the
 * service is gone, and so is this process.
 */
let options = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text: string) => {
  options += text
  const end = options.indexOf('\n')
  if (end < 0) return
  process.stdin.removeAllListeners('data')
  process.stdin.resume()
  start(JSON.parse(options.slice(0, end)) as HostOptions)
})
process.stdin.on('end', () => {
  // Only a kill is certain to end threads that are inside an isolate.
  process.kill(process.pid, 'SIGKILL')
})

function start(parsed: HostOptions): void {
  runHost(parsed).then(
    // When the service is gone, stdin says so in a moment.
    () => setTimeout(() => process.kill(process.pid, 'SIGKILL'), SEVERED_MS),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`, () =>
        process.kill(process.pid, 'SIGKILL'),
      )
    },
  )
}
