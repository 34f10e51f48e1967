import { type Socket, connect } from 'node:net'

import { MalformedResponse, type ParsedResponse, ResponseParser } from './response-parser.ts'

export interface ConnectionEvents {
  /** It can take a request now. May come before `open` returns to its caller, never inside `send`. */
  ready(): void
  answered(response: ParsedResponse): void
  /** The request, or the attempt to connect, failed; the connection is closed and can be opened again. */
  failed(kind: string): void
}

/** One keep-alive connection with at most one request on its way. */
export class Connection {
  readonly #address: { host: string; port: number }
  readonly #events: ConnectionEvents
  #socket: Socket | undefined
  #parser: ResponseParser | undefined
  #waiting = false

  constructor(address: { host: string; port: number }, events: ConnectionEvents) {
    this.#address = address
    this.#events = events
  }

  open(): void {
    const socket = connect({ ...this.#address, noDelay: true })
    const parser = new ResponseParser((response) => this.#answered(response))
    this.#socket = socket
    this.#parser = parser
    socket.on('connect', () => this.#events.ready())
    socket.on('data', (bytes) => this.#read(parser, bytes))
    socket.on('error', (error) => this.#fail(socket, codeOf(error)))
    socket.on('close', () => this.#fail(socket, 'ConnectionClosed'))
  }

  send(request: Buffer, keepBody: boolean): void {
    if (this.#parser !== undefined) this.#parser.keepBody = keepBody
    this.#waiting = true
    this.#socket?.write(request)
  }

  /** Gives up what is on its way, and reports it. */
  abort(kind: string): void {
    if (this.#socket !== undefined) this.#fail(this.#socket, kind)
  }

  close(): void {
    const socket = this.#socket
    this.#socket = undefined
    socket?.destroy()
  }

  #read(parser: ResponseParser, bytes: Buffer): void {
    try {
      parser.push(bytes)
    } catch (error) {
      if (!(error instanceof MalformedResponse)) throw error
      this.abort('MalformedResponse')
    }
  }

  #answered(response: ParsedResponse): void {
    if (!this.#waiting) throw new MalformedResponse('a response that nothing asked for')
    this.#waiting = false
    this.#events.answered(response)
    if (response.closes) {
      this.close()
      this.open()
    } else this.#events.ready()
  }

  #fail(socket: Socket, kind: string): void {
    if (this.#socket !== socket) return
    this.#waiting = false
    this.close()
    this.#events.failed(kind)
  }
}

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.name
