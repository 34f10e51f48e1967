import { type JsonObject, isJsonObject } from '#base/json-object.ts'
import type { EgressRequest, EgressResponse } from '#platform/egress/egress.ts'
import { HttpEgress } from '#platform/egress/http-egress.ts'

import { ProviderFault, untrusted } from './provider-fault.ts'

const TIMEOUT_MS = 5_000
/** Google's discovery document has 1.3 KiB, its keys 1.5 KiB. */
const MAX_BYTES = 128 * 1024
const ACCEPT_JSON: EgressRequest['headers'] = [['accept', 'application/json']]
const FORM_HEADERS: EgressRequest['headers'] = [
  ['content-type', 'application/x-www-form-urlencoded'],
]

export interface ProviderResponse {
  readonly status: number
  readonly json: JsonObject
}

interface ProviderHttpRequest {
  readonly url: string
  /** The provider's issuer as the operator configured it. */
  readonly issuer: string
  readonly headers?: EgressRequest['headers']
  readonly form?: URLSearchParams
  readonly redirect?: EgressRequest['redirect']
}

interface ProviderPage {
  readonly status: number
  readonly location: string | undefined
}

/**
 * Fetches JSON from a provider, bounded in size and time and without redirects. The issuer's own origin may be anywhere,
 * this machine included, because the operator configures it. Other origins must be https on the public internet.
 */
export class ProviderHttp {
  readonly #anywhere = new HttpEgress({ isPublic: () => true })
  readonly #outside = new HttpEgress()

  /** Returns responses of 200 and 4xx, which OAuth uses for errors; everything else is a `ProviderFault`. */
  async send(request: ProviderHttpRequest): Promise<ProviderResponse> {
    const answer = await this.#fetch(request).catch((cause: unknown) => {
      throw new ProviderFault('unreachable', `${quotedUrl(request.url)} does not answer`, { cause })
    })
    if (answer.status !== 200 && (answer.status < 400 || answer.status >= 500)) {
      throw new ProviderFault('unreachable', `${quotedUrl(request.url)} answers ${answer.status}`)
    }
    return { status: answer.status, json: jsonObjectOf(answer, request.url) }
  }

  /** What a browser would get of a page, and where it would be led. */
  async page(request: Pick<ProviderHttpRequest, 'url' | 'issuer'>): Promise<ProviderPage> {
    const { status, headers } = await this.#fetch({ ...request, redirect: 'manual' }).catch(
      (cause: unknown) => {
        const message = `${quotedUrl(request.url)} does not answer`
        throw new ProviderFault('unreachable', message, { cause })
      },
    )
    return { status, location: headers.find(([name]) => name.toLowerCase() === 'location')?.[1] }
  }

  #fetch({
    url,
    issuer,
    headers = [],
    form,
    redirect = 'error',
  }: ProviderHttpRequest): Promise<EgressResponse> {
    const egress = isIssuersOwn(url, issuer) ? this.#anywhere : this.#outside
    return egress.fetch(
      {
        url,
        method: form ? 'POST' : 'GET',
        headers: [...ACCEPT_JSON, ...headers, ...(form ? FORM_HEADERS : [])],
        redirect,
        ...(form && { bodyBase64: Buffer.from(form.toString()).toString('base64') }),
      },
      { allow: ['*'], maxResponseBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS },
      new AbortController().signal,
    )
  }
}

/** Whether a URL in a provider's metadata may be used: https, or the issuer's own origin. */
export const isUsableEndpoint = (url: string, issuer: string): boolean =>
  URL.canParse(url) &&
  (isIssuersOwn(url, issuer) || new URL(url).protocol === 'https:') &&
  new URL(url).hash === ''

const isIssuersOwn = (url: string, issuer: string): boolean =>
  new URL(url).origin === new URL(issuer).origin

const quotedUrl = (url: string): string => {
  const { host, pathname } = new URL(url)
  return `"${host}${pathname}"`
}

function jsonObjectOf(answer: EgressResponse, url: string): Readonly<Record<string, unknown>> {
  const json = parsed(Buffer.from(answer.bodyBase64, 'base64'))
  if (json) return json
  // It may be the error page of a proxy in between.
  if (answer.status !== 200) {
    throw new ProviderFault(
      'unreachable',
      `${quotedUrl(url)} answers ${answer.status} without JSON`,
    )
  }
  throw untrusted(`${quotedUrl(url)} answers something that is no JSON object`)
}

function parsed(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return isJsonObject(value) ? value : undefined
  } catch {
    // Neither UTF-8 nor JSON.
    return undefined
  }
}
