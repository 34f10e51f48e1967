import type ivm from 'isolated-vm'

import { originalPlace } from '#sandbox/modules/original-place.ts'
import type { ModuleSource, ProfiledNode, ProfiledStretch } from '#sandbox/protocol/protocol.ts'

const TITLE = 'croft'
/** Of all that one call adds to a profile, in UTF-16 units. */
const MAX_LENGTH = 8 * 1024 * 1024
const NAME_LENGTH = 200

/** isolated-vm's declarations misspell the line and say nothing of how times are meant. */
interface RawNode {
  readonly id: number
  readonly children: readonly number[]
  readonly callFrame: {
    readonly functionName: string
    readonly url: string
    readonly lineNumber: number
    readonly columnNumber: number
  }
}

/** Samples what an isolate that serves one site's profile runs, a call at a time. */
export class CallProfiler {
  readonly #isolate: ivm.Isolate
  readonly #modules: readonly ModuleSource[]

  constructor(isolate: ivm.Isolate, modules: readonly ModuleSource[]) {
    this.#isolate = isolate
    this.#modules = modules
    isolate.startCpuProfiler(TITLE)
  }

  /** What was sampled since the last time, beside a result that is JSON text; undefined when that is too much. */
  async beside(result: string): Promise<string | undefined> {
    const taken = await this.#isolate.stopCpuProfiler(TITLE)
    this.#isolate.startCpuProfiler(TITLE)
    const stretches = JSON.stringify(taken.map(({ profile }) => this.#stretch(profile)))
    return stretches.length > MAX_LENGTH
      ? undefined
      : `{"result":${result},"stretches":${stretches}}`
  }

  #stretch({ startTime, endTime, samples, timeDeltas, nodes }: ivm.CpuProfile): ProfiledStretch {
    return {
      startTime,
      endTime,
      samples,
      offsets: timeDeltas,
      nodes: (nodes as unknown as readonly RawNode[]).map((node) => this.#node(node)),
    }
  }

  #node({ id, children, callFrame }: RawNode): ProfiledNode {
    const { functionName, url, lineNumber, columnNumber } = callFrame
    const module = this.#modules.find(({ path }) => path === url) ?? {}
    const place = originalPlace(module, { line: lineNumber, column: columnNumber })
    return { id, children, functionName: functionName.slice(0, NAME_LENGTH), url, ...place }
  }
}
