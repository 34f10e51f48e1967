import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'

import { Button, IconButton } from '#app/components/button.tsx'
import { Icon } from '#app/components/icon.tsx'

import { sizeText } from './mail-time.ts'
import type { StagedFile, Staging, Upload } from './staging.ts'
import { t } from './texts.ts'

export interface AttachedFilesProps {
  readonly staging: Staging
  readonly files: readonly StagedFile[]
  /** With the files that are left. */
  readonly onChange: (files: readonly StagedFile[]) => void
}

/** The files of a message that is being written. They are chosen, or dropped here. */
export function AttachedFiles({ staging, files, onChange }: AttachedFilesProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null)
  const isOver = useSignal(false)
  return (
    <div
      class={isOver.value ? 'attached is-over' : 'attached'}
      onDragOver={(event) => {
        event.preventDefault()
        isOver.value = true
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={(event) => {
        event.preventDefault()
        isOver.value = false
        staging.add(event.dataTransfer?.files ?? [])
      }}
    >
      <ul class="files" aria-live="polite">
        {files.map(({ ref, filename, size }) => (
          <li key={ref} class="file">
            <Icon name="file" />
            <span class="file-name">{filename}</span>
            <span class="faint small">{sizeText(size)}</span>
            <IconButton
              icon="close"
              label={t('compose.remove', { name: filename })}
              onClick={() => onChange(files.filter((file) => file.ref !== ref))}
            />
          </li>
        ))}
        {staging.uploads.value.map((upload) => (
          <UploadRow key={upload.id} upload={upload} onRemove={() => staging.remove(upload.id)} />
        ))}
      </ul>
      <input
        ref={input}
        class="visually-hidden"
        type="file"
        multiple
        tabIndex={-1}
        aria-label={t('compose.attach')}
        onChange={({ currentTarget }) => {
          staging.add([...(currentTarget.files ?? [])])
          currentTarget.value = ''
        }}
      />
      <p class="toolbar">
        <Button icon="attach" onClick={() => input.current?.click()}>
          {t('compose.attach')}
        </Button>
        <span class="faint small wide-only">{t('compose.drop')}</span>
      </p>
    </div>
  )
}

interface UploadRowProps {
  readonly upload: Upload
  readonly onRemove: () => void
}

function UploadRow({ upload, onRemove }: UploadRowProps): JSX.Element {
  const { filename, size, progress, problem } = upload
  return (
    <li class={problem === undefined ? 'file' : 'file failed'}>
      <Icon name={problem === undefined ? 'upload' : 'warning'} />
      <span class="file-name">
        {filename}
        {problem !== undefined && <span class="field-error">{problem}</span>}
      </span>
      {problem === undefined && (
        <progress
          value={progress}
          max={1}
          aria-label={t('compose.uploading', { name: filename })}
        />
      )}
      <span class="faint small">{sizeText(size)}</span>
      <IconButton icon="close" label={t('compose.remove', { name: filename })} onClick={onRemove} />
    </li>
  )
}
