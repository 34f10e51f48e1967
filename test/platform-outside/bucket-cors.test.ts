import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { examineBucketCors } from '#platform/diagnosis/store-findings.ts'
import { type OpenS3Store, openS3Store } from '#test/object-stores.ts'

const ONE = 'https://one.test'
const TWO = 'https://two.test'

describe('the CORS of a bucket', () => {
  let s3: OpenS3Store
  beforeAll(async () => {
    s3 = await openS3Store()
  })
  afterAll(() => s3[Symbol.asyncDispose]())

  const examine = () => examineBucketCors(s3.store, 'croft', [ONE, TWO])

  test('that is not set is a warning with the command that sets it', async () => {
    expect(await examine()).toEqual([
      {
        part: 'bucket CORS',
        level: 'warning',
        says: `pages of ${ONE}, ${TWO} cannot use presigned URLs of the bucket "croft"`,
        advice: expect.stringMatching(
          /^aws s3api put-bucket-cors --bucket croft --cors-configuration '\{"CORSRules":\[.*\]\}'$/,
        ),
      },
    ])
  })

  test('that leaves a site out is a warning that names it', async () => {
    await s3.allowOrigins(ONE)
    const [finding] = await examine()
    expect(finding).toMatchObject({ level: 'warning', says: expect.stringContaining(TWO) })
    expect(finding?.says).not.toContain(ONE)
  })

  test.each([
    ['names each site', [ONE, TWO]],
    ['is set as the warning says', ['*']],
  ])('that %s is fine', async (_what, origins) => {
    await s3.allowOrigins(...origins)
    expect(await examine()).toEqual([
      {
        part: 'bucket CORS',
        level: 'ok',
        says: 'pages of 2 origins may use presigned URLs',
        advice: null,
      },
    ])
  })

  test('of a store that does not answer in time is a warning', async () => {
    const gone = await openS3Store()
    const { store } = gone
    await gone[Symbol.asyncDispose]()
    const [finding] = await examineBucketCors(store, 'croft', [ONE])
    expect(finding).toMatchObject({
      level: 'warning',
      says: expect.stringContaining('could not be asked'),
    })
  })
})
