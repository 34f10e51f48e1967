import { invalid } from '#base/app-error.ts'

const MAX_LENGTH = 253
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

type Rule = readonly [broken: (text: string) => boolean, fault: string | ((text: string) => string)]

const RULES: readonly Rule[] = [
  [(text) => text === '', 'is empty: give a DNS name, like "shop.example"'],
  [(text) => text.length > MAX_LENGTH, `is longer than ${MAX_LENGTH} characters`],
  [
    (text) => text !== text.toLowerCase(),
    (text) => `write it in lower case: "${text.toLowerCase()}"`,
  ],
  [(text) => /[^\p{ASCII}]/u.test(text), 'write letters outside ASCII in punycode ("xn--…")'],
  [(text) => /[:/]/.test(text), 'is a name alone: no scheme, no port, no path'],
  [(text) => text.endsWith('.'), 'leave out the dot at the end'],
  [
    (text) => wrongLabel(text) !== undefined,
    (text) =>
      `"${wrongLabel(text)}" cannot be part of a DNS name: letters, digits and inner hyphens, at most 63`,
  ],
  [(text) => !text.includes('.') && text !== 'localhost', 'needs a dot, like "shop.example"'],
  [(text) => /(?:^|\.)\d+$/.test(text), 'is an address: a site needs a name'],
]

/** Returns the name, or throws what is wrong with it. A domain is a DNS name in lower case, or `localhost`; never an address. */
export function parseDomain(text: string, field = 'domain'): string {
  const fault = domainFault(text)
  if (fault !== undefined) throw invalid(field, fault)
  return text
}

/** Why this cannot be a domain, or undefined. */
export function domainFault(text: string): string | undefined {
  const found = RULES.find(([broken]) => broken(text))?.[1]
  return typeof found === 'function' ? found(text) : found
}

/** The name in a Host header: without port, in lower case, without the root's dot. An IPv6 literal keeps its brackets. */
export function hostName(host: string): string {
  const end = host.startsWith('[') ? host.indexOf(']') + 1 : host.indexOf(':')
  const name = (end > 0 ? host.slice(0, end) : host).toLowerCase()
  return name.endsWith('.') ? name.slice(0, -1) : name
}

const wrongLabel = (text: string): string | undefined =>
  text.split('.').find((label) => !LABEL.test(label))
