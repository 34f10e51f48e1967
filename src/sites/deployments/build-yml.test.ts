import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'

import { checkArtifactDirectory, parseBuildYml } from './build-yml.ts'

describe('build.yml', () => {
  test.each([
    ['ARTIFACT_DIR: dist'],
    ['ARTIFACT_DIR: ./dist/'],
    ['env:\n  variables:\n    ARTIFACT_DIR: "dist"\n'],
    ['ARTIFACT_DIR: dist\nenv:\n  variables:\n    ARTIFACT_DIR: ./dist'],
    ['version: 0.2\nphases:\n  build:\n    commands: [npm run build]\nARTIFACT_DIR: dist'],
    ['base: &dir dist\nARTIFACT_DIR: *dir'],
  ])('names the artifact directory in %j', (text) => {
    expect(parseBuildYml(text)).toEqual({ artifactDirectory: 'dist' })
  })

  test.each([
    ['', 'names no ARTIFACT_DIR'],
    ['- a\n- b', 'names no ARTIFACT_DIR'],
    ['env: production', 'names no ARTIFACT_DIR'],
    ['ARTIFACT_DIR:', 'names no ARTIFACT_DIR'],
    ['ARTIFACT_DIR: 7', 'must be text'],
    ['ARTIFACT_DIR: [dist]', 'must be text'],
    ['ARTIFACT_DIR: ../dist', 'contains ".."'],
    ['ARTIFACT_DIR: /dist', 'must be relative'],
    ['ARTIFACT_DIR: a\nenv: { variables: { ARTIFACT_DIR: b } }', '"a" and "b": keep one'],
    ['ARTIFACT_DIR: a\nARTIFACT_DIR: b', 'is not valid YAML'],
    ['a: [', 'is not valid YAML'],
    ['a: *nowhere', 'is not valid YAML'],
  ])('is refused as %j', (text, message) => {
    expect(() => parseBuildYml(text)).toThrow(message)
  })

  test.each([
    ['too long', `x: ${'y'.repeat(70_000)}`, 'longer than 65536 bytes'],
    ['nested too deeply', `a: ${'['.repeat(60_000)}`, 'is not valid YAML'],
  ])('is refused when it is %s', (_what, text, message) => {
    expect(() => parseBuildYml(text)).toThrow(message)
  })

  test('cannot be a bomb of aliases', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for (let level = 1; level < 9; level++) {
      const before = `*a${level - 1}`
      lines.push(`a${level}: &a${level} [${Array.from({ length: 9 }, () => before).join(', ')}]`)
    }
    expect(() => parseBuildYml(lines.join('\n'))).toThrow('is not valid YAML')
  })

  test('that is any text at all is read or refused by name', () => {
    const read = (text: string) => {
      try {
        return typeof parseBuildYml(text).artifactDirectory
      } catch (error) {
        return error instanceof AppError ? error.code : error
      }
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(['string', 'InvalidArtifact']).toContain(read(text))
      }),
    )
  })

  test('must say what the site’s configuration says', () => {
    const configured = { field: 'repo.artifactDirectory', directory: 'public' }
    expect(() => checkArtifactDirectory({ artifactDirectory: 'dist' }, configured)).toThrow(
      'build.yml says ARTIFACT_DIR "dist", the site\'s repo.artifactDirectory is "public"',
    )
    expect(() => checkArtifactDirectory({ artifactDirectory: 'public' }, configured)).not.toThrow()
  })
})
