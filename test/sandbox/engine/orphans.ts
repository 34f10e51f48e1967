import process from 'node:process'

import { TestSandbox } from '#test/test-sandbox.ts'

// A service that is killed while its hosts run endless code.
const sandbox = await TestSandbox.start()
void sandbox.run('export default () => { for (;;); }', {
  limits: { cpuMs: 60_000 },
  fn: { timeoutMs: 90_000 },
})
const pids = sandbox.hosts.status().hosts.map((host) => host.pid)
process.stdout.write(JSON.stringify({ pids, cacheDir: sandbox.cacheDir }))
setInterval(() => {}, 1000)
