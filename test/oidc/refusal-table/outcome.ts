import { textOf } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'

const ALERT = /<p class="alert"[^>]*>([\s\S]*?)<\/p>/
const REFERENCE = /<span>Error code: ([^<]*)<\/span>/

/** An answer in a line: the status, and who said no in which word. */
export function outcomeOf(answer: Answer): string {
  const { status, headers, text } = answer
  if (headers['location'] !== undefined) return `${status} ${wordOfRedirect(headers['location'])}`
  return `${status} ${headers['content-type']?.startsWith('text/html') ? wordOfPage(text) : wordOfBody(answer)}`
}

/** The error that the client gets, or the page that the browser is sent to. */
function wordOfRedirect(location: string): string {
  const url = new URL(location, 'http://page.test')
  if (url.searchParams.has('code')) return 'code'
  return url.searchParams.get('error') ?? url.pathname.split('/').slice(3).join('/')
}

/** An error page has a code, a form that is shown again a sentence. */
function wordOfPage(text: string): string {
  const reference = textOf(REFERENCE.exec(text)?.[1] ?? '')
  if (reference !== '') return reference
  return textOf(ALERT.exec(text)?.[1] ?? '')
}

function wordOfBody({ json }: Answer): string {
  const { error, __type: type } = json ?? {}
  return type ?? error?.code ?? error ?? ''
}
