import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { interceptedSandbox } from '#test/intercepted-sandbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

/**
 * A replica for tests, whose time its parent sets: `now <ms>` on its standard input sets it, looks at the schedules and is
 * answered with `ticked <ms>`; `end` ends it. It prints `call <request id>` for each call that reaches its sandbox.
 */
const [database = '', dataDir = '', masterKey = '', port = '', start = ''] = process.argv.slice(2)
let now = Number(start)

const openSandbox = interceptedSandbox(join(dataDir, 'cache'), (call, run) => {
  process.stdout.write(`call ${call.requestId}\n`)
  return run()
})
const first = {
  database: { url: database },
  dataDir,
  masterKey: Buffer.from(masterKey, 'hex'),
  port: Number(port),
} as Stack
const stack = await startStack({
  beside: first,
  platform: { clock: { now: () => new Date(now) }, openSandbox },
})
process.stdout.write('ready\n')
for await (const line of createInterface(process.stdin)) {
  if (line === 'end') break
  now = Number(line.replace('now ', ''))
  await stack.context.jobScheduler.tick()
  process.stdout.write(`ticked ${now}\n`)
}
await stack[Symbol.asyncDispose]()
process.stdin.destroy()
