import '../../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { Button, Textarea } from '@mantine/core';
import { FileCode2, FileUp } from 'lucide-react';
import { useRef, useState } from 'react';
import { Notice } from '../../forms/notice.tsx';
import { numberLocale } from '../../i18n/format-locale.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from './manifest.module.css';
import { manifestExample } from './manifest-example.ts';
import { useFileDrop } from './use-file-drop.ts';

/** Typed or pasted text, or a file too large to be edited here. */
export type ManifestSource = { text: string } | { file: File };

/** The largest file, in bytes, that is put into the field. */
const editableBytes = 512 * 1024;

/** A manifest to paste, drop or choose. */
export function ManifestInput({
  source,
  isBusy,
  onChange,
  onTry,
}: {
  source: ManifestSource;
  isBusy: boolean;
  onChange: (source: ManifestSource) => void;
  onTry: () => void;
}) {
  const t = useText();
  const input = useRef<HTMLInputElement>(null);
  const [isTooLarge, setTooLarge] = useState(false);
  const take = async (file: File | undefined) => {
    if (!file) return;
    setTooLarge(file.size > limits.manifestBytes);
    if (file.size > limits.manifestBytes) return;
    onChange(file.size > editableBytes ? { file } : { text: await file.text() });
  };
  const drop = useFileDrop((file) => void take(file));
  const isEmpty = 'text' in source && source.text.trim() === '';
  return (
    // Dropping is for mouse users; the button does the same for everybody.
    <div className={classes.input} data-over={drop.isOver || undefined} {...drop.handlers}>
      {'file' in source ? (
        <div className={classes.file}>
          <FileCode2 size={20} aria-hidden />
          <span className={classes.fileName}>{source.file.name}</span>
          <span className={classes.fileSize}>{formatSize(source.file.size)}</span>
          <Button size="compact-sm" variant="subtle" color="gray" onClick={() => onChange({ text: '' })}>
            {t('manifest.otherFile')}
          </Button>
        </div>
      ) : (
        <Textarea
          label={t('manifest.field')}
          description={t('manifest.fieldHint')}
          value={source.text}
          onChange={(event) => onChange({ text: event.currentTarget.value })}
          rows={14}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="none"
          className={classes.field}
          id="manifest-text"
          wrap="off"
        />
      )}
      {isTooLarge ? (
        <Notice kind="failure">{t('manifest.tooLarge', { size: formatSize(limits.manifestBytes) })}</Notice>
      ) : null}
      <div className={classes.actions}>
        <Button variant="default" leftSection={<FileUp size={16} aria-hidden />} onClick={() => input.current?.click()}>
          {t('manifest.choose')}
        </Button>
        {isEmpty ? (
          <Button variant="subtle" color="gray" onClick={() => onChange({ text: manifestExample })}>
            {t('manifest.example')}
          </Button>
        ) : null}
        <Button
          className={classes.try}
          disabled={isEmpty}
          aria-disabled={isBusy || isEmpty}
          onClick={() => !isBusy && onTry()}
        >
          {t(isBusy ? 'manifest.trying' : 'manifest.try')}
        </Button>
      </div>
      <input
        ref={input}
        type="file"
        accept=".json,.yaml,.yml,application/json,application/yaml"
        hidden
        aria-label={t('manifest.choose')}
        onChange={(event) => {
          void take(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
    </div>
  );
}

function formatSize(bytes: number): string {
  const unit = bytes >= 1024 * 1024 ? 'megabyte' : 'kilobyte';
  const value = bytes / (unit === 'megabyte' ? 1024 * 1024 : 1024);
  return new Intl.NumberFormat(numberLocale(), { style: 'unit', unit, maximumFractionDigits: 1 }).format(value);
}
