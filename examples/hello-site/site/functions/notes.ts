import type { Handler } from 'croft'

interface Note {
  readonly owner: string
  /** Time and request: two notes of one moment are two notes. */
  readonly at: string
  readonly text: string
}

const LONGEST_NOTE = 2000

/** For signed-in visitors: keeps the note that was sent, if one was, and answers with the caller's latest ten. */
const notes: Handler<{ readonly text?: string } | null> = async (
  { payload, auth, requestId },
  { table },
) => {
  const owner = auth?.sub
  if (owner === undefined) throw refusal(401, 'SignInNeeded', 'Notes are for signed-in visitors')
  const text = payload?.text
  const mine = table<Note>('notes')
  if (text !== undefined) {
    if (typeof text !== 'string' || text === '' || text.length > LONGEST_NOTE) {
      throw refusal(400, 'InvalidNote', `"text" must be text of 1 to ${LONGEST_NOTE} characters`)
    }
    const at = `${new Date().toISOString()} ${requestId}`
    await mine.put({
      item: { owner, at, text },
      conditionExpression: 'attribute_not_exists(#at)',
      expressionAttributeNames: { '#at': 'at' },
    })
  }
  const latest = await mine.query({
    keyConditionExpression: '#owner = :owner',
    expressionAttributeNames: { '#owner': 'owner' },
    expressionAttributeValues: { ':owner': owner },
    scanIndexForward: false,
    limit: 10,
  })
  return { notes: latest.items.map((note) => note.text) }
}

export default notes

const refusal = (statusCode: number, code: string, message: string): Error =>
  Object.assign(new Error(message), { statusCode, code })
