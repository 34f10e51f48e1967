import type { SlotDefinition } from '#sandbox/protocol/protocol.ts'

import type { PendingCall } from './pending-call.ts'

/** What a worker has to know of a function before its first call. */
export function slotDefinition({ program, definition, purpose }: PendingCall): SlotDefinition {
  const { name, entry, handler, modules, env, timeoutMs } = definition
  const { cpuMs, resultBytes, logLineLength, logLines } = program.limits
  let memoryMb = 0
  for (const one of program.functions.values()) memoryMb = Math.max(memoryMb, one.memoryMb)
  return {
    programKey: program.key,
    siteId: program.siteId,
    siteDomain: program.siteDomain,
    name,
    entry,
    handler,
    modules,
    env,
    timeoutMs,
    memoryMb,
    purpose,
    limits: { cpuMs, resultBytes, logLineLength, logLines },
  }
}
