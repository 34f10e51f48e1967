import type { Croft, HostPort } from './host-port.ts'
import { print, renewLines, startCall } from './runtime-calls.ts'
import { type BootConfig, setConfig } from './runtime-config.ts'
import { draw, setEntropy } from './runtime-entropy.ts'
import { describeThrown } from './runtime-errors.ts'
import { answerHostCall, callHost } from './runtime-host-calls.ts'
import { ANSWER, CALL, NEXT_TIMER, STATE } from './runtime-kinds.ts'
import { certainCall, currentCall, forgetCall, within } from './runtime-live-calls.ts'
import { fixArrayBuffers, removeUnbounded } from './runtime-lockdown.ts'
import {
  defineModule,
  exportedNames,
  moduleLoaded,
  requireModule,
  type Target,
} from './runtime-modules.ts'
import { emit, takeOutput } from './runtime-output.ts'
import {
  dateNow,
  defineProperty,
  deleteProperty,
  freeze,
  parse,
  setPrototypeOf,
} from './runtime-primordials.ts'
import { SectionReader } from './runtime-section.ts'
import { addTimer, earliestDueMs, removeTimer, takeDue } from './runtime-timers.ts'

/** What the host side of a context calls. It leaves the global object when the context boots. */
interface GuestRuntime extends Croft {
  /** `config` is JSON of `BootConfig`; `entropy` gives that many random bytes. */
  boot(config: string, entropy: (bytes: number) => ArrayBuffer): void
  /** Adds a CommonJS module by its wrapper function, or a JSON module by its text. */
  define(path: string, wrapper: unknown, data: string): void
  /** Runs a CommonJS or JSON module and names its exports: JSON of an object with those keys. */
  names(path: string): string
  /** Runs the entry module when it is CommonJS or JSON. */
  entry(path: string): void
  /**
   * Begins the records of a section, or with an empty one goes on where it stopped: after `maxCalls` calls, or when
   * `sliceMs` have passed. Also fires the timers that are due.
   */
  run(section: string, nowMs: number, sliceMs: number, maxCalls: number): void
  /** Records of `FromGuest`. */
  take(): string
}

declare global {
  var __croft: GuestRuntime | undefined
  var __croftRequire: ((path: string) => unknown) | undefined
  var __croftLoaded: ((exports: unknown) => void) | undefined
}

const host: HostPort = (globalThis.__croft as Croft).host
let section: SectionReader | undefined
let entryMs = 0

host.call = (name, argument) => callHost(certainCall(), name, argument)
host.print = print
host.now = () => entryMs
host.random = draw
host.setTimer = (delayMs, repeat, fire) =>
  addTimer(dateNow(), delayMs, { repeat, call: certainCall(), fire })
host.clearTimer = removeTimer
fixArrayBuffers()

const runtime: GuestRuntime = {
  host,
  boot(text, entropy) {
    deleteProperty(globalThis, '__croft')
    removeUnbounded()
    const config = parse(text) as BootConfig
    host.env = (parse(text) as { env: Record<string, string> }).env
    // Names of variables and nothing else: not `constructor`, nor what site code puts on Object.prototype.
    setPrototypeOf(config.env, null)
    freeze(config.env)
    freeze(config.site)
    setConfig(config)
    renewLines()
    setEntropy(entropy)
    entryMs = dateNow()
    hide('__croftRequire', requireModule)
    hide('__croftLoaded', loaded)
  },
  define: (path, wrapper, data) => defineModule(path, wrapper as never, data),
  names: exportedNames,
  entry: (path) => loaded(requireModule(path)),
  run(text, nowMs, sliceMs, maxCalls) {
    entryMs = nowMs
    if (text !== '') {
      section = new SectionReader(text)
      fireDue(nowMs)
    }
    const endMs = dateNow() + sliceMs
    let calls = 0
    while (section?.next()) {
      begin(section)
      if (section.kind === CALL) calls += 1
      if (calls >= maxCalls || dateNow() >= endMs) return
    }
  },
  take() {
    const dueMs = earliestDueMs()
    if (dueMs > 0) emit(`${NEXT_TIMER},${dueMs}`)
    return takeOutput(`${STATE},${section?.begun ?? 0},${currentCall()}`)
  },
}
hide('__croft', runtime)

function begin(record: SectionReader): void {
  if (record.kind === CALL) {
    startCall({
      id: record.first,
      operation: record.text(),
      requestId: record.text(),
      auth: record.text(),
      body: record.text(),
    })
  } else if (record.kind === ANSWER)
    answerHostCall(record.first, record.second === 1, record.text())
  else forgetCall(record.first)
}

function fireDue(nowMs: number): void {
  for (let timer = takeDue(nowMs); timer; timer = takeDue(nowMs)) {
    const { call, fire } = timer
    within(call, () => {
      try {
        fire()
      } catch (error) {
        const { message, stack } = describeThrown(error)
        print('error', `Uncaught in a timer: ${stack === '' ? message : stack}`)
      }
    })
  }
}

function loaded(exports: unknown): void {
  deleteProperty(globalThis, '__croftRequire')
  deleteProperty(globalThis, '__croftLoaded')
  const serve = host.serve as ((request: object) => unknown) | null
  const served: Target | undefined = serve
    ? { kind: 'fetch', owner: globalThis, handle: serve }
    : undefined
  moduleLoaded(exports, served)
}

function hide(name: string, value: unknown): void {
  defineProperty(globalThis, name, {
    value,
    writable: false,
    enumerable: false,
    configurable: true,
  })
}
