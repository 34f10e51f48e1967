import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import { Transform } from 'node:stream'

interface Pair {
  readonly near: Socket
  readonly far: Socket | undefined
  /** What the server says goes through here. */
  readonly back: Transform
  listens: boolean
}

/** A way to a server that can fall silent, as a network does that drops every packet. */
export class TcpProxy implements AsyncDisposable {
  readonly #target: URL
  readonly #pairs = new Set<Pair>()
  readonly #server = createServer((near) => this.#accept(near))
  #isSilent = false
  #isDeaf = false
  #answersAfterMs = 0

  private constructor(target: URL) {
    this.#target = target
  }

  static async start(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(target))
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  /** The server's URL by way of this. */
  get url(): string {
    const url = new URL(this.#target)
    url.hostname = '127.0.0.1'
    url.port = String((this.#server.address() as AddressInfo).port)
    return url.href
  }

  /** From now on nothing arrives, on new connections neither. */
  fallSilent(): void {
    this.#isSilent = true
    for (const pair of this.#pairs) silence(pair)
  }

  /** From now on nothing arrives on new connections; those that are open work. */
  silenceNew(): void {
    this.#isSilent = true
  }

  /** As `fallSilent`, and the server learns that all connections have ended. */
  cutOff(): void {
    this.fallSilent()
    for (const { far } of this.#pairs) far?.destroy()
  }

  /** Each piece of an answer takes so long, but on connections that listen to notifications. */
  slowAnswers(ms: number): void {
    this.#answersAfterMs = ms
  }

  /** Nothing arrives on connections that listen to notifications, those that come to it later too; all others work. */
  silenceListeners(): void {
    this.#isDeaf = true
    for (const pair of this.#pairs) if (pair.listens) silence(pair)
  }

  /** Lets listeners through that begin from now on. */
  letListen(): void {
    this.#isDeaf = false
  }

  /** New connections work. Those that were silent stay so, and their target has forgotten them. */
  leadElsewhere(): void {
    this.#isSilent = false
    for (const { far } of this.#pairs) far?.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { near, far } of this.#pairs) {
      near.destroy()
      far?.destroy()
    }
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(near: Socket): void {
    const { hostname, port } = this.#target
    const far = this.#isSilent ? undefined : connect(Number(port), hostname)
    const pair: Pair = { near, far, back: this.#wayBack(() => pair.listens), listens: false }
    this.#pairs.add(pair)
    near.on('error', () => far?.destroy())
    near.on('close', () => this.#pairs.delete(pair))
    if (far === undefined) return
    far.on('error', () => near.destroy())
    near.on('data', (chunk) => {
      if (pair.listens || !chunk.includes('listen croft_')) return
      pair.listens = true
      if (this.#isDeaf) silence(pair)
    })
    near.pipe(far).pipe(pair.back).pipe(near)
  }

  #wayBack(listens: () => boolean): Transform {
    return new Transform({
      transform: (chunk, _encoding, done) => {
        const afterMs = listens() ? 0 : this.#answersAfterMs
        if (afterMs === 0) done(null, chunk)
        else setTimeout(done, afterMs, null, chunk)
      },
    })
  }
}

/** Closes nothing: neither end learns of it. */
function silence({ near, far, back }: Pair): void {
  near.unpipe()
  far?.unpipe()
  back.unpipe()
  near.pause()
  far?.pause()
}
