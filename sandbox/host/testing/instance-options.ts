import { QuickCrypto } from '#sandbox/crypto/quick-crypto.ts'
import { CpuClock } from '#sandbox/host/cpu-clock.ts'
import type { GuestParts } from '#sandbox/host/guest-parts.ts'
import type { Instance } from '#sandbox/host/instance.ts'
import { WorkerOutput } from '#sandbox/host/worker-output.ts'

type InstanceOptions = ConstructorParameters<typeof Instance>[1]

/** What a test's instance is of beside its code; milliseconds. */
interface TestedCode {
  readonly code: string
  readonly cpuMs: number
  readonly timeoutMs: number
  readonly memoryMb: number
  readonly logLineLength: number
}

/** An instance of one function, `work`, in a program of its own. What it sends and how it ends goes nowhere. */
export const instanceOptions = (
  parts: GuestParts,
  { code, cpuMs, timeoutMs, memoryMb, logLineLength }: TestedCode,
): InstanceOptions => ({
  slot: 1,
  definition: {
    programKey: 'program',
    siteId: 'site',
    siteDomain: 'one.test',
    name: 'work',
    entry: 'main.js',
    handler: 'default',
    modules: [{ path: 'main.js', format: 'esm', code }],
    env: {},
    timeoutMs,
    memoryMb,
    limits: { cpuMs, resultBytes: 1000, logLineLength, logLines: 10 },
    purpose: 'operation',
  },
  cpu: new CpuClock(),
  tries: 0,
  progress: { heartbeat() {}, loadBegins() {}, loadEnds() {} },
  outbox: new WorkerOutput(() => {}),
  crypto: new QuickCrypto(),
  longCrypto: { ask: () => {}, cancel: () => {} },
  parts,
  numbers: { next: () => 1, free: () => {} },
  stopped: () => {},
})
