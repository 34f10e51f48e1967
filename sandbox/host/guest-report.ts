import {
  MAX_FAULT_MESSAGE_LENGTH,
  MAX_POINTER_LENGTH,
  MAX_SCHEMA_FAULTS,
  type SchemaFault,
} from '#sandbox/protocol/compiled-schema.ts'
import {
  type FromGuest,
  type GuestFailure,
  LEVELS,
  type SlotDefinition,
} from '#sandbox/protocol/protocol.ts'

import type { EntryResult } from './entry-result.ts'
import { CLIENT_LEFT, type OpenCalls } from './open-calls.ts'
import type { WorkerOutput } from './worker-output.ts'

const MAX_NAME_LENGTH = 64
/** The guest cuts lines itself and adds a few words that say so. */
const MARGIN_LENGTH = 64
/** With every unit of it escaped. */
const MAX_FAULTS_LENGTH = 8 * MAX_SCHEMA_FAULTS * (MAX_POINTER_LENGTH + MAX_FAULT_MESSAGE_LENGTH)
const ERROR = LEVELS.indexOf('error')

const FAILED: ReadonlySet<string> = new Set<Failed['kind']>([
  'thrown',
  'invalidResult',
  'invalidBody',
  'oversized',
  'mismatch',
])

type Failed = Extract<
  FromGuest,
  { kind: 'thrown' | 'invalidResult' | 'invalidBody' | 'oversized' | 'mismatch' }
>

/** Carries out what a guest reports after an entry. All of it is hostile: unknown ids are ignored, lengths bounded. */
export class GuestReport {
  readonly #deps
  #looseLines = 0

  constructor(deps: {
    readonly slot: number
    readonly definition: SlotDefinition
    readonly calls: OpenCalls
    readonly outbox: WorkerOutput
  }) {
    this.#deps = deps
  }

  /** When the guest's earliest timer is due; 0 for never. */
  dueMs = 0

  read(entry: EntryResult): void {
    this.dueMs = 0
    if (entry.uncaught !== undefined) {
      this.#print(0, ERROR, `Uncaught: ${entry.uncaught}`)
    }
    for (const record of entry.records) this.#apply(record)
  }

  /** A new call may print again outside of itself. */
  renew(): void {
    this.#looseLines = 0
  }

  #apply(record: FromGuest): void {
    const { calls } = this.#deps
    if (record.kind === 'result') calls.finish(record.numbers[0], record.texts[0])
    else if (record.kind === 'hostCall') this.#ask(record)
    else if (record.kind === 'answered') calls.answer(record.numbers[0], record.texts[0])
    else if (record.kind === 'log') this.#line(record)
    else if (record.kind === 'left') calls.fail(record.numbers[0], CLIENT_LEFT)
    else if (record.kind === 'nextTimer') this.dueMs = record.numbers[0]
    else if (isFailed(record)) calls.fail(record.numbers[0], this.#failureOf(record))
  }

  #ask({ numbers, texts }: Extract<FromGuest, { kind: 'hostCall' }>): void {
    if (texts[0].length <= MAX_NAME_LENGTH)
      this.#deps.calls.startHostCall(numbers[0], numbers[1], texts)
  }

  #failureOf(record: Failed): GuestFailure {
    switch (record.kind) {
      case 'thrown': {
        const statusCode = record.numbers[1]
        const [code, message, stack] = record.texts
        return {
          kind: 'thrown',
          message,
          stack,
          ...(statusCode === 0 ? {} : { statusCode }),
          ...(code === '' ? {} : { code }),
        }
      }
      case 'invalidResult':
        return { kind: 'invalidResult', message: record.texts[0] }
      case 'invalidBody':
        return { kind: 'invalidBody', message: record.texts[0] }
      case 'mismatch': {
        const of = record.numbers[1] === 1 ? 'result' : 'payload'
        return { kind: 'mismatch', of, faults: schemaFaultsIn(record.texts[0]) }
      }
      case 'oversized': {
        const limit = this.#deps.definition.limits.resultBytes
        const used = Math.max(record.numbers[1], limit + 1)
        return { kind: 'limit', what: 'resultBytes', limit, used }
      }
    }
  }

  #line({ numbers, texts }: Extract<FromGuest, { kind: 'log' }>): void {
    this.#print(numbers[0], Math.min(numbers[1], ERROR), texts[0])
  }

  #print(id: number, level: number, message: string): void {
    const { calls, outbox, slot, definition } = this.#deps
    const call = calls.get(id)
    const { logLines, logLineLength } = definition.limits
    const printed = call ? (call.lines += 1) : (this.#looseLines += 1)
    // One more than allowed: the guest's own remark that it has dropped the rest.
    if (printed > logLines + 1) return
    const place = [slot, call ? id : 0, level] as const
    outbox.log(place, message.slice(0, logLineLength + MARGIN_LENGTH))
  }
}

const isFailed = (record: FromGuest): record is Failed => FAILED.has(record.kind)

function schemaFaultsIn(text: string): readonly SchemaFault[] {
  const faults = listIn(text)
    .slice(0, MAX_SCHEMA_FAULTS)
    .flatMap((fault): SchemaFault[] => {
      const [pointer, message]: readonly unknown[] = Array.isArray(fault) ? fault : []
      if (typeof pointer !== 'string' || typeof message !== 'string') return []
      return [[pointer.slice(0, MAX_POINTER_LENGTH), message.slice(0, MAX_FAULT_MESSAGE_LENGTH)]]
    })
  return faults.length > 0 ? faults : [['', 'is not as its schema says']]
}

function listIn(text: string): readonly unknown[] {
  if (text.length > MAX_FAULTS_LENGTH) return []
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}
