import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'

import { HeadBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createClient } from '#platform/postgres/client.ts'
import { redisMissing } from '#test/redis.ts'

const PROGRAM = join(resolve(import.meta.dirname, '../..'), 'test/support/services/main.ts')

/** The first text that a port sends, or the reply to `said`. */
async function reply(url: string, said = ''): Promise<string> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname).setEncoding('utf8')
  await once(socket, 'connect')
  if (said !== '') socket.write(said)
  const [text]: string[] = await once(socket, 'data')
  socket.destroy()
  return text ?? ''
}

describe('npm run services', () => {
  const program = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(program, 'exit')
  let environment: Readonly<Record<string, string>>
  const urlOf = (name: string) => environment[name] ?? ''

  beforeAll(async () => {
    let text = ''
    const ready = Promise.withResolvers<void>()
    program.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.includes('S3_SECRET_ACCESS_KEY=')) ready.resolve()
    })
    program.once('exit', (code) => ready.reject(new Error(`ended with ${code}`)))
    await ready.promise
    const found = text.matchAll(/^export (\w+)='(.*)'$/gm)
    environment = Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]))
  })
  afterAll(async () => {
    program.kill('SIGKILL')
    await ended
  })

  test('starts PostgreSQL', async () => {
    const sql = createClient({ url: urlOf('DATABASE_URL'), max: 1 })
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }])
    await sql.end()
  })

  test.skipIf(redisMissing())('starts Redis', async () => {
    expect(await reply(urlOf('REDIS_URL'), 'PING\r\n')).toBe('+PONG\r\n')
  })

  test('starts a mail server', async () => {
    expect(await reply(urlOf('SMTP_URL'))).toMatch(/^220 /)
  })

  test('starts an object store with its bucket', async () => {
    const client = new S3Client({
      region: 'us-east-1',
      endpoint: urlOf('S3_ENDPOINT'),
      forcePathStyle: true,
      credentials: {
        accessKeyId: urlOf('S3_ACCESS_KEY_ID'),
        secretAccessKey: urlOf('S3_SECRET_ACCESS_KEY'),
      },
    })
    const { $metadata } = await client.send(new HeadBucketCommand({ Bucket: urlOf('S3_BUCKET') }))
    expect($metadata.httpStatusCode).toBe(200)
    client.destroy()
  })

  test('ends all of them at Ctrl-C', async () => {
    program.kill('SIGINT')
    expect(await ended).toEqual([0, null])
    const smtp = reply(urlOf('SMTP_URL'))
    await expect(smtp).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    const database = reply(urlOf('DATABASE_URL'))
    await expect(database).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })
})
