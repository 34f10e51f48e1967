/** Which site a call is for. `domain` is the site's name at the time the call came in. */
export interface SiteIdentity {
  readonly siteId: string
  readonly domain: string
}

/** A visitor whose token was verified. */
export interface Caller {
  readonly sub: string
  readonly groups: readonly string[]
  /** JSON text of `{ sub, username, groups }`, as the function sees it. */
  readonly authText: string
  /** What the token was granted; undefined where nothing bounds it. */
  readonly scopes?: ReadonlySet<string> | undefined
  /** Whether it comes by an application of others. */
  readonly isThirdParty: boolean
}

/** A caller whose token was verified, an anonymous one, or the site itself, whose rights open every operation. */
export type CallAuthority = Caller | null | 'system'

/** The HTTP request and response that a call is about: its body is the text of a `ServedRequest`. */
export interface CallExchange {
  /** Aborted when the client does not read the response any more. */
  readonly left: AbortSignal
  /** Whether the call waits for its client: the request or the response is a stream. */
  readonly isStream: boolean
  /** What an `http` host call of the function asks; resolves when there is room for more. */
  ask(argument: string): Promise<string>
}

/**
 * A call of an operation. It is made once, by the code that receives it (the route, a job, a function that calls another
 * operation), and handed on by reference; what a later step learns is kept beside it.
 */
export interface Call {
  readonly site: SiteIdentity
  readonly operation: string
  readonly requestId: string
  /** Whose rights admit the call, and its nested calls. */
  readonly authority: CallAuthority
  /** How many calls of operations wait for this one: 0 for a visitor's own and for a job's. */
  readonly depth: number
  /** The call from outside that set this one off; undefined for that one itself. */
  readonly root?: Call | undefined
  /** The call whose function made this one; undefined for one from outside. */
  readonly caller?: Call | undefined
  /** The address of an anonymous caller; undefined where the caller is known, by name or as the site itself. */
  readonly address?: string | undefined
  /** Aborted when no caller waits any more: then it is not begun, and calls no operations. One that others wait for ends, too. */
  readonly signal?: AbortSignal | undefined
  /**
   * Gives a signal that is aborted when the visitor has left: then the call is not begun, or ends once it has no host call in
   * flight. It is called only if the call has to wait for something.
   */
  readonly visitorSignal?: (() => AbortSignal) | undefined
  /** The request body, unchanged and never empty: JSON text of an object whose `payload` is handed to the handler. */
  readonly body: string
  /** Of a call that answers HTTP. */
  readonly exchange?: CallExchange | undefined
  /** Runs the operation whatever answers are cached of it, and does not cache this one. */
  readonly fresh?: true
}

/** The visitor who calls; null for a stranger and for the site itself. */
export const callerOf = ({ authority }: Call): Caller | null =>
  authority === 'system' ? null : authority
