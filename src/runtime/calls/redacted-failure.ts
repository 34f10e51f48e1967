import type { SandboxFailure } from '#platform/sandbox-host/sandbox.ts'

/** A failure without the site's secrets in what its code said. */
export function redactedFailure(
  failure: SandboxFailure,
  redact: (text: string) => string,
): SandboxFailure {
  switch (failure.kind) {
    case 'thrown': {
      const { message, stack, code } = failure
      const said = { message: redact(message), stack: redact(stack) }
      return { ...failure, ...said, ...(code === undefined ? {} : { code: redact(code) }) }
    }
    case 'invalidCode':
      return { ...failure, fault: { ...failure.fault, message: redact(failure.fault.message) } }
    case 'invalidResult':
    case 'invalidBody':
    case 'interrupted':
      return { ...failure, message: redact(failure.message) }
    case 'limit':
      return failure
  }
}
