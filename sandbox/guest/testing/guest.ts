import { randomFillSync } from 'node:crypto'

import ivm from 'isolated-vm'

import { LongCrypto } from '#sandbox/crypto/long-crypto.ts'
import { QuickCrypto } from '#sandbox/crypto/quick-crypto.ts'
import { bundleGuest } from '#sandbox/guest/bundle.ts'
import { domainInAscii } from '#sandbox/host/domain-in-ascii.ts'
import { GuestParts } from '#sandbox/host/guest-parts.ts'

export interface Line {
  readonly level: string
  readonly text: string
}

/** Answers `host.call`; its throw is the refusal that site code sees. */
export type AnswerCall = (name: string, argument: string) => Promise<string>

interface GuestOptions {
  readonly answer?: AnswerCall
  readonly env?: Readonly<Record<string, string>>
  /** Of the artifact, by path. */
  readonly files?: Readonly<Record<string, string>>
}

/** The port of a test: timers and calls go to this process, the clock counts entries, lines are kept. */
const PORT = `
const [print, call, arm, disarm, fill, env, part, crypto, domainToAscii] = [$0, $1, $2, $3, $4, JSON.parse($5), $6, $7, $9]
const files = JSON.parse($8)
const { host } = globalThis.__croft
delete globalThis.__croft
const PromiseClass = Promise
const ErrorClass = Error
const timers = new Map()
let lastTimer = 0
host.env = env
host.print = (level, text) => print(level, text)
const asked = { __proto__: null }
let lastCall = 0
host.call = (name, argument) =>
  new PromiseClass((resolve, reject) => {
    asked[++lastCall] = { resolve, reject }
    call(lastCall, name, argument)
  })
host.now = () => Date.now()
host.random = (size) => new Uint8Array(fill(size))
host.part = part
host.crypto = (name, request, parts) => crypto(name, request, parts[0], parts[1], parts[2], parts[3])
host.entry = 'functions/main.ts'
host.readFile = (path) => (Object.hasOwn(files, path) ? files[path] : undefined)
host.domainToAscii = domainToAscii
host.setTimer = (delay, repeat, fire) => {
  timers.set(++lastTimer, { fire, repeat })
  arm(lastTimer, delay, repeat)
  return lastTimer
}
host.clearTimer = (id) => {
  timers.delete(id)
  disarm(id)
}
globalThis.testHost = host
return (kind, id, text) => {
  if (kind === 'answer') return asked[id].resolve(text)
  if (kind === 'refuse') return asked[id].reject(new ErrorClass(text))
  const timer = timers.get(id)
  if (timer && !timer.repeat) timers.delete(id)
  timer?.fire()
}`

type Enter = (kind: string, id: number, text?: string) => void

let platform: Promise<Platform> | undefined

interface Platform {
  readonly snapshot: ivm.ExternalCopy<ArrayBuffer>
  readonly parts: GuestParts
}

async function bundlePlatform(): Promise<Platform> {
  const { prelude, parts } = await bundleGuest()
  const snapshot = ivm.Isolate.createSnapshot([{ code: prelude, filename: 'croft:prelude' }])
  return { snapshot, parts: new GuestParts(parts) }
}

/** A context made from a snapshot of the real prelude, in an isolate of its own. */
export class Guest implements Disposable {
  readonly lines: Line[] = []
  /** In the order in which the code needed them. */
  readonly loadedParts: string[] = []
  readonly #isolate: ivm.Isolate
  readonly #context: ivm.Context
  readonly #timers = new Map<number, NodeJS.Timeout>()
  readonly #crypto = new QuickCrypto()
  readonly #longCrypto = new LongCrypto({
    answered: (id, { text }) => this.#enter?.('answer', id, text),
  })
  #enter: Enter | undefined

  private constructor(isolate: ivm.Isolate) {
    this.#isolate = isolate
    this.#context = isolate.createContextSync()
  }

  static async open(options: GuestOptions = {}): Promise<Guest> {
    platform ??= bundlePlatform()
    const { snapshot, parts } = await platform
    const guest = new Guest(new ivm.Isolate({ snapshot, memoryLimit: 256 }))
    guest.#connect(parts, options)
    return guest
  }

  /** Runs the body of an async function inside and gives what it returned, by way of JSON. */
  async run(body: string): Promise<unknown> {
    const code = `(async () => { const $stringify = JSON.stringify; const $value = await (async () => {${body}\n})(); return typeof $value === 'string' ? '{"value":' + $stringify($value) + '}' : $stringify({ value: $value }) })()`
    const text: unknown = await this.#context.eval(code, {
      promise: true,
      copy: true,
      timeout: 10_000,
    })
    return (JSON.parse(String(text)) as { value?: unknown }).value
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#longCrypto.close()
    if (!this.#isolate.isDisposed) this.#isolate.dispose()
  }

  #connect(parts: GuestParts, { answer = refuse, env = {}, files = {} }: GuestOptions): void {
    const port = this.#context.evalClosureSync(
      PORT,
      [
        new ivm.Callback((level: string, text: string) => void this.lines.push({ level, text })),
        new ivm.Callback((id: number, name: string, argument: string) => {
          if (name === 'crypto')
            this.#longCrypto.ask({ hostCall: id, siteId: 'site', request: argument })
          else
            answer(name, argument).then(
              (text) => this.#enter?.('answer', id, text),
              (error: unknown) => this.#enter?.('refuse', id, String(error).slice(7)),
            )
        }),
        new ivm.Callback((id: number, delayMs: number, repeat: boolean) =>
          this.#arm(id, delayMs, {
            repeat,
            fire: () => this.#enter?.('fire', id),
          }),
        ),
        new ivm.Callback((id: number) => this.#disarm(id)),
        new ivm.Callback((size: number) =>
          new ivm.ExternalCopy(randomFillSync(new Uint8Array(size)).buffer).copyInto(),
        ),
        JSON.stringify(env),
        parts.callback({
          isolate: this.#isolate,
          context: this.#context,
          loaded: (name) => this.loadedParts.push(name),
        }),
        new ivm.Callback((operation: string, request: string, ...bytes: readonly unknown[]) =>
          this.#crypto.answer(operation, request, bytes),
        ),
        JSON.stringify(files),
        new ivm.Callback(domainInAscii),
      ],
      { result: { reference: true } },
    ) as ivm.Reference<Enter>
    this.#enter = (...given) => port.applyIgnored(undefined, given)
  }

  #arm(id: number, delayMs: number, { fire, repeat }: { repeat: boolean; fire: () => void }): void {
    this.#timers.set(id, repeat ? setInterval(fire, delayMs) : setTimeout(fire, delayMs))
  }

  #disarm(id: number): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }
}

const refuse: AnswerCall = async (name) => {
  throw new Error(`The test host has no "${name}"`)
}
