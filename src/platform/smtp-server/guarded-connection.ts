import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'

/** More than a message to a hundred recipients takes, with every command sent twice. */
const MAX_COMMANDS = 300
const MAX_REFUSALS = 50
const HAS_STATUS = /^[245]\.\d{1,3}\.\d{1,3} /

/** Of the features in the reply to EHLO (RFC 4954, section 3). */
const isNoLogin = (feature: string): boolean => !feature.startsWith('AUTH ')

/** A connection that counts what it is asked for, and takes enhanced status codes from those who answer. */
export class GuardedConnection extends SMTPConnection {
  commands = 0
  refusals = 0
  /** Since the last message. */
  #commandsInARow = 0

  /** A text that begins with an enhanced status code keeps it; any other gets the library's for its reply code. */
  override send(code: number, text?: string | string[] | null, context?: string | false): void {
    if (code >= 400) this.refusals += 1
    const isComplete = typeof text === 'string' && HAS_STATUS.test(text)
    // The library offers a login before STARTTLS, though it refuses it: a careless client sends its password at once.
    const said = Array.isArray(text) && !this.secure ? text.filter(isNoLogin) : text
    super.send(code, said, isComplete ? false : context)
  }

  override _onCommand(command: Buffer, callback?: () => void): void {
    this.commands += 1
    this.#commandsInARow += 1
    if (this.#commandsInARow > MAX_COMMANDS) {
      this.send(421, '4.7.0 Too many commands without a message: closing the connection')
    } else if (this.refusals > MAX_REFUSALS) {
      this.send(421, '4.7.0 Too many refused commands: closing the connection')
    } else {
      super._onCommand(command, callback)
    }
  }

  /** Ends the connection in the middle of a message, where no reply is read. */
  hangUp(): void {
    this._socket.destroy()
  }

  messageTaken(): void {
    this.#commandsInARow = 0
  }
}
