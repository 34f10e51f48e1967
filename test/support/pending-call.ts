import type { PendingCall } from '#platform/sandbox-host/pending-call.ts'

/** A call of a small function, of a site of its own unless one is named. */
export function pendingCall(id: number, site = `site_${id}`): PendingCall {
  const definition = {
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
  const limits = {
    concurrency: 9,
    queueLength: 9,
    queueMs: 9,
    cpuMs: 50,
    resultBytes: 9,
    logLineLength: 9,
    logLines: 9,
  }
  const functions = new Map([['f', definition]])
  return {
    id,
    queueKey: site,
    program: { key: `${site}@1`, siteId: site, siteDomain: 'x', limits, functions },
    definition,
    call: {
      site: { siteId: site, domain: 'x' },
      operation: 'op',
      requestId: 'r',
      authority: null,
      depth: 0,
      body: '{}',
    },
    purpose: 'operation',
    leaving: undefined,
    queuedMs: 0,
    slot: 0,
    cold: false,
    chargedMs: 0,
    logs: undefined,
    settle: () => {},
    isAnswered: false,
  }
}
