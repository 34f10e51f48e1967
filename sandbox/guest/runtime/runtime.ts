import { clockOrigin } from '#sandbox/guest/web/clock.ts'
import { takeRejection } from '#sandbox/guest/web/global-events.ts'
import type { Croft, HostPort } from '#sandbox/guest/web/host.ts'
import { ARTIFACT_ROOT, joinPath, urlOfFile } from '#sandbox/guest/web/paths.ts'
import {
  create,
  dateNow,
  defineProperty,
  deleteProperty,
  ErrorClass,
  freeze,
  hasOwn,
  jsonParse,
  max,
  setPrototypeOf,
  slice,
  startsWith,
  testPattern,
  toText,
  TypeErrorClass,
  indexOf,
} from '#sandbox/guest/web/primordials.ts'

import { print, renewLines, startCall } from './calls.ts'
import { type BootConfig, setConfig } from './config.ts'
import { answerHostCall, callHost, hasUnattributed, forEachPending } from './host-calls.ts'
import { captureCallSite, framesOf } from './host-error.ts'
import { abortExchange } from './http-exchange.ts'
import {
  attributedCall,
  currentCall,
  endLeft,
  forgetCall,
  leaveCall,
  runInCall,
} from './live-calls.ts'
import {
  closeObjectPrototype,
  fixArrayBuffers,
  hideCollector,
  removeUnbounded,
} from './lockdown.ts'
import { defineModule, exportedNames, moduleLoaded, requireModule, type Target } from './modules.ts'
import { dropReadOutput, emit, takeOutput, cut } from './output.ts'
import { ABORT, ANSWER, CALL, LEFT, NEXT_TIMER, STATE } from './record-kinds.ts'
import { closeSharedObjects } from './shared-objects.ts'
import { formatStacks, type LocateCode, setMovedFiles } from './stack-trace.ts'
import { describeThrown } from './thrown.ts'
import { addTimer, earliestDueMs, removeTimer, takeDue, forEachTimer } from './timers.ts'

const POOL_BYTES = 1024
const MAX_BYTES = 65_536
const Bytes = Uint8Array

let entropy: ((bytes: number) => ArrayBuffer) | undefined
let pool = new Bytes(0)
let used = 0

const RELATIVE = /^\.{0,2}\//
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:/i

const MAX_WAITS = 3
const MAX_LENGTH = 4000

type HostCrypto = (
  call: number,
  operation: string,
  request: string,
  ...parts: readonly (Uint8Array<ArrayBuffer> | undefined)[]
) => ArrayBuffer | string

/** What the host lends to a context; none of it knows of another context. */
type BootCallbacks = [
  /** That many random bytes. */
  entropy: (bytes: number) => ArrayBuffer,
  part: HostPort['part'],
  /** What `HostPort.crypto` says, for a call. */
  crypto: HostCrypto,
  domainToAscii: HostPort['domainToAscii'],
  /** There when files were moved. */
  locate: LocateCode | undefined,
]

/** What the host side of a context calls. It leaves the global object when the context boots. */
interface GuestRuntime extends Croft {
  /** `config` is JSON of `BootConfig`. */
  boot(config: string, ...callbacks: BootCallbacks): void
  /** `readFile` tells what a file of the artifact has in it; without it there are none. */
  files(readFile: HostPort['readFile']): void
  /** Adds a CommonJS module by its wrapper function, or a JSON module by its text. */
  define(path: string, wrapper: unknown, data: string): void
  /** Runs a CommonJS or JSON module and names its exports: JSON of an object with those keys. */
  names(path: string): string
  /** Runs the entry module when it is CommonJS or JSON. */
  entry(path: string): void
  /**
   * Begins the records of a section, or with an empty one goes on where it stopped: after `maxCalls` calls, or when
   * `sliceMs` have passed. Before a new section one timer fires that is due: what promises continue goes before the next.
   */
  run(section: string, nowMs: number, sliceMs: number, maxCalls: number): void
  /**
   * Offers the site an unhandled rejection, as it was copied out: an error's name, message and stack, or another value in
   * `message`. True when a listener took it, so that it need not be logged.
   */
  rejected(name: string, message: unknown, stack: string): boolean
  /** Records of `FromGuest`. With `keeps` they can be taken again, until the next `run`. */
  take(keeps: boolean): string
  /** What a call waits for, in lines. */
  waits(call: number): string
}

declare global {
  var __croft: GuestRuntime | undefined
  var __croftRequire: ((path: string) => unknown) | undefined
  var __croftLoaded: ((exports: unknown) => void) | undefined
}

const host: HostPort = (globalThis.__croft as Croft).host
let section: SectionReader | undefined

/** When the entry began, by the host's clock, which is never set, and by the one that site code sees. */
let entryMs = 0
let entryWallMs = 0

host.call = (name, argument) => callHost(attributedCall(), name, argument, captureCallSite())

host.print = print

host.now = () => entryWallMs

host.random = randomBytes

host.setTimer = (delayMs, repeat, fire) =>
  addTimer(steadyNow(), delayMs, { repeat, call: attributedCall(), fire, at: captureCallSite() })

host.clearTimer = removeTimer

fixArrayBuffers()

/** A wall clock that is set in the middle of an entry counts for nothing. */
const steadyNow = (): number => entryMs + max(0, dateNow() - entryWallMs)

const noFile = (): undefined => undefined

const runtime: GuestRuntime = {
  host,
  boot(text, ...callbacks) {
    const [entropy, part, crypto, domainToAscii, locate] = callbacks
    deleteProperty(globalThis, '__croft')
    removeUnbounded()
    hideCollector()
    closeObjectPrototype()
    formatStacks()
    const config = jsonParse(text) as BootConfig
    host.env = (jsonParse(text) as { env: Record<string, string> }).env
    // Names of variables and nothing else: not `constructor`, nor what site code puts on Object.prototype.
    setPrototypeOf(config.env, null)
    freeze(config.env)
    freeze(config.site)
    // Names of operations and nothing else.
    if (config.schemas) setPrototypeOf(config.schemas, null)
    setConfig(config)
    if (locate) setMovedFiles(config.moved, locate)
    renewLines()
    setEntropy(entropy)
    host.part = part
    host.crypto = (operation, request, parts) =>
      crypto(currentCall(), operation, request, parts[0], parts[1], parts[2], parts[3])
    host.readFile = noFile
    host.entry = config.entry
    host.domainToAscii = domainToAscii
    beginEntry(config.nowMs)
    clockOrigin()
    hide('__croftRequire', requireModule)
    hide('__croftMetaOf', importMetaOf)
    hide('__croftLoaded', loaded)
  },
  files: (readFile) => {
    host.readFile = readFile
  },
  define: (path, wrapper, data) => defineModule(path, wrapper as never, data),
  names: exportedNames,
  entry: (path) => loaded(requireModule(path)),
  run(text, nowMs, sliceMs, maxCalls) {
    dropReadOutput()
    beginEntry(nowMs)
    if (text !== '') {
      section = new SectionReader(text)
      fireFirst(nowMs)
    }
    const endMs = steadyNow() + sliceMs
    let calls = 0
    while (section?.next()) {
      begin(section)
      if (section.kind === CALL) calls += 1
      if (calls >= maxCalls || steadyNow() >= endMs) return
    }
  },
  rejected: (name, message, stack) =>
    takeRejection(name === '' ? message : errorOf(name, message as string, stack)),
  take(keeps) {
    if (!hasUnattributed()) endLeft((id) => emit(`${LEFT},${id}`))
    const dueMs = earliestDueMs()
    if (dueMs > 0) emit(`${NEXT_TIMER},${dueMs}`)
    return takeOutput(`${STATE},${section?.begun ?? 0},${currentCall()}`, keeps)
  },
  waits: describeWaits,
}

hide('__croft', runtime)

function beginEntry(nowMs: number): void {
  entryMs = nowMs
  entryWallMs = dateNow()
}

function begin(record: SectionReader): void {
  if (record.kind === CALL) {
    startCall({
      id: record.first,
      http: record.second === 1,
      operation: record.text(),
      requestId: record.text(),
      auth: record.text(),
      body: record.text(),
    })
  } else if (record.kind === ANSWER)
    answerHostCall(record.first, record.second === 1, record.text())
  else if (record.kind === ABORT) {
    leaveCall(record.first)
    abortExchange(record.first)
  } else {
    forgetCall(record.first)
    abortExchange(record.first)
  }
}

function fireFirst(nowMs: number): void {
  const timer = takeDue(nowMs)
  if (timer === undefined) return
  runInCall(timer.call, () => {
    try {
      timer.fire()
    } catch (error) {
      const { message, stack } = describeThrown(error)
      print('error', `Uncaught in a timer: ${stack === '' ? message : stack}`)
    }
  })
}

function loaded(exports: unknown): void {
  deleteProperty(globalThis, '__croftRequire')
  deleteProperty(globalThis, '__croftMetaOf')
  deleteProperty(globalThis, '__croftLoaded')
  const serve = host.serve as ((request: object) => unknown) | null
  const served: Target | undefined = serve
    ? { kind: 'fetch', owner: globalThis, handle: serve }
    : undefined
  moduleLoaded(exports, served)
  closeSharedObjects()
}

const ERRORS: Readonly<Record<string, ErrorConstructor>> = {
  TypeError,
  RangeError,
  ReferenceError,
  SyntaxError,
}

function errorOf(name: string, message: string, stack: string): Error {
  const error = new ((hasOwn(ERRORS, name) ? ERRORS[name] : undefined) ?? ErrorClass)(message)
  if (error.name !== name) defineProperty(error, 'name', ownValue(name))
  defineProperty(error, 'stack', ownValue(stack))
  return error
}

function ownValue(value: unknown): PropertyDescriptor {
  const descriptor = create(null) as PropertyDescriptor
  descriptor.value = value
  descriptor.writable = descriptor.configurable = true
  return descriptor
}

function hide(name: string, value: unknown): void {
  defineProperty(globalThis, name, {
    value,
    writable: false,
    enumerable: false,
    configurable: true,
  })
}

function setEntropy(source: (bytes: number) => ArrayBuffer): void {
  entropy = source
  pool = new Bytes(0)
  used = 0
}

/** That many random bytes; small amounts come from a pool, so that the host is rarely called. */
function randomBytes(bytes: number): Uint8Array<ArrayBuffer> {
  if (!entropy || !(bytes >= 0 && bytes <= MAX_BYTES)) {
    throw new ErrorClass(`At most ${MAX_BYTES} random bytes can be drawn at once`)
  }
  if (bytes > POOL_BYTES / 4) return new Bytes(entropy(bytes))
  if (used + bytes > pool.length) {
    pool = new Bytes(entropy(POOL_BYTES))
    used = 0
  }
  const drawn = new Bytes(bytes)
  for (let index = 0; index < bytes; index += 1) {
    drawn[index] = pool[used] as number
    pool[used] = 0
    used += 1
  }
  return drawn
}

/** `import.meta` of the module at that path of the artifact, as Deno makes it. */
function importMetaOf(path: string, isMain: boolean): object {
  const meta = create(null) as object
  const filename = `${ARTIFACT_ROOT}/${path}`
  const dirname = folderOf(filename)
  put(meta, 'url', urlOfFile(path))
  put(meta, 'main', isMain)
  put(meta, 'resolve', (specifier: unknown): string => {
    const text = toText(specifier)
    if (testPattern(ABSOLUTE, text)) return text
    if (!testPattern(RELATIVE, text)) throw new TypeErrorClass(`Import "${text}" not a dependency`)
    const target = joinPath(dirname, text)
    return startsWith(target, `${ARTIFACT_ROOT}/`)
      ? urlOfFile(slice(target, ARTIFACT_ROOT.length + 1))
      : `file://${target}`
  })
  put(meta, 'filename', filename)
  put(meta, 'dirname', dirname)
  return meta
}

const folderOf = (path: string): string => {
  let end = path.length - 1
  while (end > 0 && path[end] !== '/') end -= 1
  return slice(path, 0, end)
}

const put = (meta: object, name: string, value: unknown): void => {
  defineProperty(meta, name, { value, writable: true, enumerable: true, configurable: true })
}

/** What a call waits for, and where its code asked for that, in lines; empty when nothing that is known of can settle it. */
function describeWaits(call: number): string {
  let text = ''
  let waits = 0
  const add = (what: string, asker: number, at: { readonly stack?: unknown } | undefined): void => {
    // Code that runs while several calls are open cannot be attributed to one of them.
    if ((asker !== call && asker !== 0) || waits === MAX_WAITS) return
    waits += 1
    text += `${text === '' ? '' : '\n'}waiting for ${what}${framesOf(at) ?? ''}`
  }
  forEachPending((pending) => add(pending.name, pending.call, pending.at))
  forEachTimer((timer) => add('a timer', timer.call, timer.at))
  return cut(text, MAX_LENGTH)
}

/** Walks the records of one section, one at a time; their texts are read in order. The host wrote it: it is well formed. */
class SectionReader {
  readonly #text: string
  readonly #head: readonly number[]
  #at = 0
  #textAt: number
  kind = 0
  first = 0
  second = 0
  /** Records that `next` has stepped to. */
  begun = 0

  constructor(text: string) {
    const headEnd = indexOf(text, '\n')
    this.#text = text
    this.#head = jsonParse(`[${slice(text, 0, headEnd)}]`) as number[]
    this.#textAt = headEnd + 1
  }

  next(): boolean {
    if (this.#at >= this.#head.length) return false
    this.kind = this.#number()
    this.first = this.#number()
    this.second = this.kind === ANSWER || this.kind === CALL ? this.#number() : 0
    this.begun += 1
    return true
  }

  /** The next text of the record. */
  text(): string {
    const from = this.#textAt
    this.#textAt = from + this.#number()
    return slice(this.#text, from, this.#textAt)
  }

  #number(): number {
    this.#at += 1
    return this.#head[this.#at - 1] as number
  }
}
