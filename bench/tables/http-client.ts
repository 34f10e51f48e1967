import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

/** Posts JSON over kept connections and gives the answer's JSON; anything but 200 is an error. */
export class HttpClient {
  readonly #port: number
  readonly #headers: Readonly<Record<string, string>>
  readonly #agent: Agent

  constructor(options: { port: number; headers: Readonly<Record<string, string>>; max: number }) {
    this.#port = options.port
    this.#headers = options.headers
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.max })
  }

  post(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Body> {
    return new Promise((resolve, reject) => {
      const bytes = Buffer.from(JSON.stringify(body))
      const sent = request(
        {
          host: '127.0.0.1',
          port: this.#port,
          agent: this.#agent,
          method: 'POST',
          path,
          headers: { ...this.#headers, ...headers, 'content-length': bytes.length },
        },
        (response) => {
          text(response).then((answer) => {
            if (response.statusCode === 200) resolve(JSON.parse(answer))
            else reject(new Error(`${path} answered ${response.statusCode}: ${answer}`))
          }, reject)
        },
      )
      sent.on('error', reject)
      sent.end(bytes)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

type Body = Readonly<Record<string, unknown>>
