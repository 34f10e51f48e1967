import { type Answer, request } from './http-client.ts'

const MAX_STEPS = 20

interface Cookie {
  readonly host: string
  readonly name: string
  readonly path: string
  readonly value: string
}

export interface Step {
  readonly url: string
  readonly status: number
  readonly location: string | undefined
}

export interface Walk {
  /** Where the browser would go next: a client's redirect URI, which nobody serves. Or where it stands. */
  readonly url: URL
  /** The last answer; of a page when the walk ended at one. */
  readonly answer: Answer
  readonly steps: readonly Step[]
}

/** A browser that walks from site to site: follows redirects, keeps cookies by host and path. `*.test` is this machine. */
export class WalkingBrowser {
  #cookies: readonly Cookie[] = []
  /** Another replica: requests to that port go to this one instead. */
  readonly ports = new Map<string, string>()

  /** GET, and on through every redirect, until a page, or an address for which `until` holds. */
  async open(url: string, until: (url: URL) => boolean = isClientCallback): Promise<Walk> {
    const steps: Step[] = []
    let at = new URL(url)
    for (;;) {
      const answer = await this.#get(at)
      const { location } = answer.headers
      steps.push({ url: at.href, status: answer.status, location })
      if (location === undefined || answer.status < 300) return { url: at, answer, steps }
      at = new URL(location, at)
      if (until(at)) return { url: at, answer, steps }
      if (steps.length > MAX_STEPS) throw new Error(`The walk does not end: ${at.href}`)
    }
  }

  cookie(name: string): string | undefined {
    return this.#cookies.find((cookie) => cookie.name.startsWith(name))?.value
  }

  /** Plants a cookie, as the answer of a script's request would. */
  keep(url: URL, setCookie: string): void {
    for (const line of setCookie.split(/, (?=[^\s;,=]+=)/)) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
      const name = pair.slice(0, pair.indexOf('='))
      if (name === '') continue
      const value = pair.slice(name.length + 1)
      const cookie = { host: url.hostname, name, value, path: valueOf(attributes, 'path') ?? '/' }
      const ended = Date.parse(valueOf(attributes, 'expires') ?? '2999-01-01') <= Date.now()
      const others = this.#cookies.filter((each) => !isSame(each, cookie))
      this.#cookies = ended ? others : [...others, cookie]
    }
  }

  forget(host: string): void {
    this.#cookies = this.#cookies.filter((cookie) => cookie.host !== host)
  }

  async #get(url: URL): Promise<Answer> {
    const cookies = this.#cookies
      .filter(({ host, path }) => host === url.hostname && isUnder(url.pathname, path))
      .map(({ name, value }) => `${name}=${value}`)
    const answer = await request({
      port: Number(this.ports.get(url.port) ?? url.port),
      host: url.host,
      path: `${url.pathname}${url.search}`,
      headers: cookies.length > 0 ? { cookie: cookies.join('; ') } : {},
    })
    this.keep(url, answer.headers['set-cookie'] ?? '')
    return answer
  }
}

/** Of every pool's own client. */
const isClientCallback = ({ pathname }: URL): boolean =>
  pathname === '/auth/callback' || pathname === '/admin/callback'

const isSame = (one: Cookie, other: Cookie): boolean =>
  one.host === other.host && one.name === other.name && one.path === other.path

const isUnder = (pathname: string, path: string): boolean =>
  pathname === path || path === '/' || pathname.startsWith(`${path}/`)

function valueOf(attributes: readonly string[], name: string): string | undefined {
  const found = attributes.find((attribute) => attribute.toLowerCase().startsWith(`${name}=`))
  return found?.slice(name.length + 1)
}
