import type { Egress, EgressRequest, EgressResponse } from '#platform/egress/egress.ts'
import { HttpEgress } from '#platform/egress/http-egress.ts'

import { ProviderFault, untrusted } from './provider-fault.ts'

const TIMEOUT_MS = 5_000
/** Google's discovery document has 1.3 KiB, its keys 1.5 KiB. */
const MAX_BYTES = 128 * 1024
const ACCEPT_JSON: EgressRequest['headers'] = [['accept', 'application/json']]

export interface ProviderResponse {
  readonly status: number
  readonly headers: EgressResponse['headers']
  readonly json: Readonly<Record<string, unknown>>
}

interface ProviderHttpRequest {
  readonly url: string
  /** The provider's, as the operator configured it. */
  readonly issuer: string
  readonly headers?: EgressRequest['headers']
  readonly form?: URLSearchParams
}

/**
 * JSON from a provider: small, soon, and without redirects. The issuer itself may be anywhere, this machine included: the
 * operator says where it is. What its documents name besides must be https, on the public internet.
 */
export class ProviderHttp {
  readonly #anywhere: Egress
  readonly #outside: Egress

  constructor(egress: { readonly anywhere: Egress; readonly outside: Egress } = direct()) {
    this.#anywhere = egress.anywhere
    this.#outside = egress.outside
  }

  /** Answers of 200 and 4xx, which is where OAuth puts its errors; everything else is a `ProviderFault`. */
  async send(request: ProviderHttpRequest): Promise<ProviderResponse> {
    const answer = await this.#fetch(request).catch((cause: unknown) => {
      throw new ProviderFault('unreachable', `${quotedUrl(request.url)} does not answer`, { cause })
    })
    if (answer.status !== 200 && (answer.status < 400 || answer.status >= 500)) {
      throw new ProviderFault('unreachable', `${quotedUrl(request.url)} answers ${answer.status}`)
    }
    return {
      status: answer.status,
      headers: answer.headers,
      json: jsonObjectOf(answer, request.url),
    }
  }

  #fetch({ url, issuer, headers = [], form }: ProviderHttpRequest): Promise<EgressResponse> {
    const egress = isIssuersOwn(url, issuer) ? this.#anywhere : this.#outside
    return egress.fetch(
      {
        url,
        method: form ? 'POST' : 'GET',
        headers: [...ACCEPT_JSON, ...headers, ...(form ? FORM_HEADERS : [])],
        redirect: 'error',
        ...(form && { bodyBase64: Buffer.from(form.toString()).toString('base64') }),
      },
      { allow: ['*'], maxResponseBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS },
      new AbortController().signal,
    )
  }
}

const FORM_HEADERS: EgressRequest['headers'] = [
  ['content-type', 'application/x-www-form-urlencoded'],
]

/** Whether a URL that a provider's document names may be used: https, or the very origin of the issuer. */
export const isUsableEndpoint = (url: string, issuer: string): boolean =>
  URL.canParse(url) &&
  (isIssuersOwn(url, issuer) || new URL(url).protocol === 'https:') &&
  new URL(url).hash === ''

const isIssuersOwn = (url: string, issuer: string): boolean =>
  new URL(url).origin === new URL(issuer).origin

const direct = () => ({
  anywhere: new HttpEgress({ isPublic: () => true }),
  outside: new HttpEgress(),
})

const quotedUrl = (url: string): string => {
  const { host, pathname } = new URL(url)
  return `"${host}${pathname}"`
}

function jsonObjectOf(answer: EgressResponse, url: string): Readonly<Record<string, unknown>> {
  const json = parsed(Buffer.from(answer.bodyBase64, 'base64'))
  if (json) return json
  // An error page of a proxy in between is no word of the provider's.
  if (answer.status !== 200) {
    throw new ProviderFault(
      'unreachable',
      `${quotedUrl(url)} answers ${answer.status} without JSON`,
    )
  }
  throw untrusted(`${quotedUrl(url)} answers something that is no JSON object`)
}

function parsed(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return isRecord(value) ? value : undefined
  } catch {
    // Neither UTF-8 nor JSON.
    return undefined
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
