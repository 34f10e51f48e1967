export interface ExpectedMail {
  /** `parsed` when left out. */
  readonly status?: 'parsed' | 'failed'
  readonly subject?: string
  /** What its text contains. */
  readonly text?: string
  /** What its HTML contains; null: that it has none. */
  readonly html?: string | null
  /** Names of its attachments, all of them. */
  readonly attachments?: readonly string[]
  readonly attachmentCount?: number
  readonly truncated?: boolean
  /** What is found in its bounce; null: that it is none. */
  readonly bounce?: Readonly<Record<string, string | null>> | null
}

export interface Sample {
  readonly name: string
  /** Made when it is needed: some are megabytes. */
  readonly build: () => Buffer
  readonly expected: ExpectedMail
}

export const sample = (
  name: string,
  message: string | Buffer | (() => string | Buffer),
  expected: ExpectedMail = {},
): Sample => ({
  name,
  build: () => Buffer.from(typeof message === 'function' ? message() : message),
  expected,
})

/** A message of those header fields and that body. */
export const mail = (fields: readonly string[], body = ''): string =>
  ['From: Eve <eve@else.test>', 'To: hello@one.test', ...fields, '', body].join('\r\n')

/** A multipart of those parts, each with its own header fields. */
export const multipart = (
  type: string,
  parts: readonly string[],
  fields: readonly string[] = ['Subject: parts'],
): string =>
  mail(
    [...fields, `Content-Type: multipart/${type}; boundary="b1"`],
    `${parts.map((part) => `--b1\r\n${part}\r\n`).join('')}--b1--\r\n`,
  )

export const part = (fields: readonly string[], body: string): string =>
  [...fields, '', body].join('\r\n')
