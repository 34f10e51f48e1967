import { actionOf, hiddenFields } from './form-browser.ts'
import { type Answer, request } from './http-client.ts'
import { PAGE } from './static-sites.ts'

const MAX_STEPS = 20

interface Cookie {
  readonly host: string
  readonly name: string
  readonly path: string
  readonly value: string
}

interface Step {
  readonly url: string
  readonly status: number
  readonly location: string | undefined
}

export interface Walk {
  /** Where the browser would go next: a client's redirect URI, which no server serves. Or where it is. */
  readonly url: URL
  /** The last answer; of a page when the walk ended at one. */
  readonly answer: Answer
  readonly steps: readonly Step[]
}

/** A browser that walks from site to site: follows redirects, keeps cookies by host and path. `*.test` is this machine. */
export class WalkingBrowser {
  #cookies: readonly Cookie[] = []
  /** Another replica: requests to that port go to this one instead. */
  readonly ports: Map<string, string>

  constructor(ports = new Map<string, string>()) {
    this.ports = ports
  }

  /** GET, and on through every redirect, until a page, or an address for which `until` holds. */
  open(url: string, until: (url: URL) => boolean = isClientCallback): Promise<Walk> {
    return this.#walk({ at: new URL(url) }, until)
  }

  /** Fills in the form of the page that a walk has ended at; the first one, or that of an action. */
  submit(
    { url, answer }: Walk,
    fields: Readonly<Record<string, string>>,
    action = actionOf(answer.text),
  ): Promise<Walk> {
    const form = new URLSearchParams({ ...hiddenFields(answer.text), ...fields })
    const at = new URL(action, url)
    return this.#walk({ at, form: form.toString() }, isClientCallback)
  }

  async #walk(start: Request, until: (url: URL) => boolean): Promise<Walk> {
    const steps: Step[] = []
    let { at, form } = start
    for (;;) {
      const answer = await this.#send({ at, form })
      const { location } = answer.headers
      steps.push({ url: at.href, status: answer.status, location })
      if (location === undefined || answer.status < 300) return { url: at, answer, steps }
      at = new URL(location, at)
      form = undefined
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

  async #send({ at, form }: Request): Promise<Answer> {
    const cookies = this.#cookies
      .filter(({ host, path }) => host === at.hostname && isUnder(at.pathname, path))
      .map(({ name, value }) => `${name}=${value}`)
    const answer = await request({
      port: Number(this.ports.get(at.port) ?? at.port),
      host: at.host,
      method: form === undefined ? 'GET' : 'POST',
      path: `${at.pathname}${at.search}`,
      headers: {
        ...PAGE,
        ...(cookies.length > 0 && { cookie: cookies.join('; ') }),
        ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form !== undefined && { body: form }),
    })
    this.keep(at, answer.headers['set-cookie'] ?? '')
    return answer
  }
}

interface Request {
  readonly at: URL
  readonly form?: string | undefined
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
