import type { Answer } from './http-client.ts'
import type { Stack } from './stack.ts'

/** Remembers cookies, fills in forms: a browser without eyes. */
export class FormBrowser {
  /** Another replica answers from here on when it is set. */
  stack: Stack
  readonly #host: string
  /** As in `Accept-Language`. */
  readonly #language: string | undefined
  readonly cookies = new Map<string, string>()

  constructor(stack: Stack, host: string, language?: string) {
    this.stack = stack
    this.#host = host
    this.#language = language
  }

  async get(path: string): Promise<Answer> {
    return this.#kept(
      await this.stack.call(this.#host, 'GET', path, { headers: this.#headers({}) }),
    )
  }

  /** What the form of that page would send, its hidden fields included. */
  async submit(
    page: Answer,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const body = new URLSearchParams({ ...hiddenFields(page.text), ...fields }).toString()
    return this.post(actionOf(page.text), body, headers)
  }

  async post(
    path: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
    return this.#kept(
      await this.stack.call(this.#host, 'POST', path, { body, headers: this.#headers(form) }),
    )
  }

  #headers(headers: Readonly<Record<string, string>>): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return {
      ...(cookie !== '' && { cookie }),
      ...(this.#language !== undefined && { 'accept-language': this.#language }),
      ...headers,
    }
  }

  /** The client joins several `Set-Cookie` with a comma; ours have no comma but in `Expires`. */
  #kept(answer: Answer): Answer {
    for (const cookie of (answer.headers['set-cookie'] ?? '').split(/, (?=(?:__Host-)?croft_)/)) {
      const [pair = ''] = cookie.split(';')
      const at = pair.indexOf('=')
      if (at > 0) this.cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return answer
  }
}

export const actionOf = (page: string): string =>
  unescape(/<form[^>]* action="([^"]*)"/.exec(page)?.[1] ?? '')

export const hiddenFields = (page: string): Record<string, string> =>
  Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map((found) => [
      found[1] ?? '',
      unescape(found[2] ?? ''),
    ]),
  )

/** The visible text of a page. */
export const textOf = (page: string): string =>
  unescape(
    page
      .replace(/<(style|title|script)>[\s\S]*?<\/\1>/g, '')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )

const unescape = (text: string): string =>
  text.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)))
