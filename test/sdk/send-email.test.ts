import { describe, expect, test } from 'vitest'

import { type Attachment, createServerClient } from '#sdk/server.ts'

import { RecordingService } from './recording-service.ts'

const MIB = 1024 * 1024
const SENT = { body: { id: 'msg_1', threadId: 'thr_1' } }
const EMAIL = { mailbox: 'shop@one.test', to: 'ada@else.test', subject: 'Hi', text: 'Hello' }

const file = (sizeBytes: number): Attachment => ({
  filename: 'a.bin',
  contentType: 'application/octet-stream',
  contentBase64: Buffer.alloc(sizeBytes).toString('base64'),
})
const clientOf = ({ origin }: RecordingService) =>
  createServerClient({ baseUrl: origin, token: 'secret' })

describe('sendEmail', () => {
  test('sends what the route takes, under a key of its own', async () => {
    await using service = await RecordingService.start(SENT)
    const email = {
      ...EMAIL,
      cc: ['c@else.test'],
      bcc: ['b@else.test'],
      replyTo: 'r@one.test',
      html: '<p>Hello',
      attachments: [file(3)],
    }
    expect(await clientOf(service).sendEmail(email)).toEqual(SENT.body)
    const [request] = service.requests
    expect(request).toMatchObject({
      method: 'POST',
      url: '/admin/api/messages/send',
      headers: {
        authorization: 'Bearer secret',
        'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    })
    const { text, ...rest } = email
    expect(JSON.parse(request?.body ?? '')).toEqual({ ...rest, to: ['ada@else.test'], body: text })
  })

  test('is repeated under the same key, or that of the caller', async () => {
    const busy = { status: 503, headers: { 'retry-after': '0' }, body: {} }
    await using service = await RecordingService.start(busy, SENT)
    await clientOf(service).sendEmail(EMAIL)
    await clientOf(service).sendEmail(EMAIL)
    await clientOf(service).sendEmail(EMAIL, { idempotencyKey: 'order-7' })
    const keys = service.requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual([keys[0], keys[0], expect.any(String), 'order-7'])
    expect(new Set(keys).size).toBe(3)
  })

  test.each<[string, ReturnType<typeof file>[], [number, string, string]]>([
    [
      '11 files',
      Array.from({ length: 11 }, () => file(1)),
      [400, 'TooManyAttachments', 'attachments: at most 10, not 11'],
    ],
    [
      'a file that is too large',
      [file(1), file(10 * MIB + 1)],
      [413, 'AttachmentTooLarge', 'attachments[1]: "a.bin" has 10485761 bytes, more than 10 MiB'],
    ],
    [
      'too much in all',
      [file(10 * MIB), file(5 * MIB + 1)],
      [
        413,
        'AttachmentsTooLarge',
        'attachments: together they have 15728641 bytes, more than 15 MiB',
      ],
    ],
    [
      'other text',
      [{ ...file(1), contentBase64: 'a-_=' }],
      [0, 'InvalidInput', 'attachments[0].contentBase64: is not base64'],
    ],
  ])('refuses %s before anything is sent', async (_what, attachments, [status, code, message]) => {
    await using service = await RecordingService.start(SENT)
    await expect(clientOf(service).sendEmail({ ...EMAIL, attachments })).rejects.toMatchObject({
      status,
      code,
      message,
    })
    expect(service.requests).toEqual([])
  })

  test('refuses a whole message that is too large before anything is sent', async () => {
    await using service = await RecordingService.start(SENT)
    const raw = Buffer.alloc(25 * MIB + 1).toString('base64')
    await expect(clientOf(service).sendEmail({ ...EMAIL, raw })).rejects.toMatchObject({
      status: 413,
      code: 'MessageTooLarge',
      message: 'raw: the message has 26214401 bytes, more than 25 MiB',
    })
    expect(service.requests).toEqual([])
  })

  test('passes on a whole message, and does not believe an answer without ids', async () => {
    await using service = await RecordingService.start({ body: { ok: true } })
    const sent = clientOf(service).sendEmail({ ...EMAIL, raw: 'U3ViamVjdDogSGkNCg0K' })
    await expect(sent).rejects.toMatchObject({ code: 'UnexpectedResponse', status: 200 })
    expect(JSON.parse(service.requests[0]?.body ?? '')).toMatchObject({
      raw: 'U3ViamVjdDogSGkNCg0K',
    })
  })
})
