import { randomUUID } from 'node:crypto'

import type { ComputeJob, Program, ProgramFunction } from './sandbox.ts'

const AD_HOC = 'compute.js'

/** A program of one function that is called once: the worker finds out whether its code is CommonJS or a module. */
export function adHocProgram(job: ComputeJob): { program: Program; definition: ProgramFunction } {
  const definition: ProgramFunction = {
    functionId: AD_HOC,
    name: 'compute',
    entry: AD_HOC,
    handler: 'default',
    modules: [{ path: AD_HOC, format: 'commonjs', code: job.code }],
    env: {},
    timeoutMs: job.timeoutMs,
    memoryMb: job.memoryMb,
    stores: new Map(),
  }
  const program: Program = {
    key: `${job.siteId}!${randomUUID()}`,
    siteId: job.siteId,
    siteDomain: job.siteDomain,
    limits: job.limits,
    functions: new Map([[AD_HOC, definition]]),
  }
  return { program, definition }
}
