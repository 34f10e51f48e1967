import { readResource } from '#conformance/wpt/resources.ts'
import type { HostFailure } from '#sandbox/protocol/protocol.ts'

interface Answer {
  readonly ok: boolean
  /** JSON text, of a `HostFailure` where it is refused. */
  readonly text: string
}

/** What the runner answers in the place of the service, by the name of the host call. */
const ANSWERS: Readonly<Record<string, (root: string, argument: string) => Promise<Answer>>> = {
  fetch: fetched,
}

export async function answerHostCall(
  root: string,
  name: string,
  argument: string,
): Promise<Answer> {
  const answer = ANSWERS[name]
  if (!answer) return refused(`No answer to "${name}" is known here`)
  try {
    return await answer(root, argument)
  } catch (error) {
    return refused(String(error))
  }
}

async function fetched(root: string, argument: string): Promise<Answer> {
  const { url } = JSON.parse(argument) as { readonly url: string }
  const resource = await readResource(root, url.replace(/#.*$/, ''))
  if (!resource) return refused(`Nothing answers "${url}" here`)
  const response = {
    status: 200,
    statusText: 'OK',
    url,
    redirected: false,
    headers: [['content-type', resource.type]],
    bodyBase64: resource.bytes.toString('base64'),
  }
  return { ok: true, text: JSON.stringify(response) }
}

function refused(message: string): Answer {
  const failure: HostFailure = { code: 'EgressRefused', message, statusCode: 502 }
  return { ok: false, text: JSON.stringify(failure) }
}
