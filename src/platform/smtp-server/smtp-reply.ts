/** What a command or message is refused with: a reply code, an enhanced status code (RFC 3463) and a text that is safe to show. */
export class SmtpReply extends Error {
  override readonly name = 'SmtpReply'
  readonly responseCode: number

  constructor(responseCode: number, status: string, text: string, options?: ErrorOptions) {
    super(`${status} ${text}`, options)
    this.responseCode = responseCode
  }
}
