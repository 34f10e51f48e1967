import type { Call } from '#platform/sandbox-host/call.ts'
import { newCall, type PendingCall } from '#platform/sandbox-host/pending-call.ts'
import type { Program, SiteLimits } from '#platform/sandbox-host/sandbox.ts'

const LIMITS: SiteLimits = {
  concurrency: 9,
  suspendedCalls: 0,
  openStreams: 9,
  queueLength: 9,
  queueMs: 9,
  cpuMs: 50,
  resultBytes: 9,
  logLineLength: 9,
  logLines: 9,
}
const DEFINITION = {
  functionId: 'f',
  name: 'f',
  entry: 'f.js',
  handler: 'default',
  modules: [],
  env: {},
  timeoutMs: 100,
  memoryMb: 64,
  stores: new Map(),
}

/** A program of one small function. */
export const programOf = (siteId: string, limits: Partial<SiteLimits> = {}): Program => ({
  key: `${siteId}@1`,
  siteId,
  siteDomain: siteId,
  limits: { ...LIMITS, ...limits },
  functions: new Map([[DEFINITION.functionId, DEFINITION]]),
})

interface Part extends Partial<Omit<PendingCall, 'call'>> {
  readonly call?: Partial<Call>
}

/** A call of a small function, of a site of its own unless a program is given. */
export function pendingCall(
  id: number,
  { program = programOf(`site_${id}`), call, ...part }: Part = {},
): PendingCall {
  const { siteId, siteDomain: domain } = program
  const about = {
    site: { siteId, domain },
    operation: 'op',
    requestId: 'r',
    authority: null,
    depth: 0,
    body: '{}',
    ...call,
  }
  const code = { program, definition: DEFINITION, purpose: 'operation', logs: undefined } as const
  return {
    ...newCall(id, about, code, () => {}),
    queuedMs: 0,
    ...part,
  }
}
