import { ActionIcon } from '@mantine/core';
import { RotateCcw, TriangleAlert, X } from 'lucide-react';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from '../files.module.css';
import { fileIcon } from '../preview/file-kind.ts';
import { formatSize } from '../preview/file-look.ts';
import type { Upload, UploadQueue } from './upload-queue.ts';

/** Running uploads: their progress, and how to stop or retry them. */
export function UploadRow({
  upload,
  queue,
  maximumBytes,
}: {
  upload: Upload;
  queue: Pick<UploadQueue, 'remove' | 'retry'>;
  maximumBytes: number;
}) {
  const t = useText();
  const { key, name, size, state, share } = upload;
  const isBroken = state === 'failed' || state === 'refused';
  const Icon = isBroken ? TriangleAlert : fileIcon({ filename: name, mediaType: upload.mediaType });
  const percent = Math.floor(share * 100);
  return (
    <li className={classes.upload} data-state={state}>
      <Icon size={16} aria-hidden className={classes.icon} />
      <span className={classes.uploadText}>
        <bdi className={classes.name}>{name}</bdi>
        <span className={classes.fact} role={isBroken ? 'alert' : undefined}>
          {stateText(upload, maximumBytes, t)}
        </span>
        {isBroken ? null : (
          <progress
            className={classes.progress}
            value={state === 'waiting' ? 0 : share}
            max={1}
            aria-label={t('files.progress', { name })}
            aria-valuetext={`${percent} %`}
          />
        )}
      </span>
      {state === 'failed' ? (
        <ActionIcon
          variant="subtle"
          color="gray"
          size={26}
          aria-label={t('files.retry', { name })}
          title={t('files.retry', { name })}
          onClick={() => queue.retry(key)}
        >
          <RotateCcw size={14} />
        </ActionIcon>
      ) : null}
      <ActionIcon
        variant="subtle"
        color="gray"
        size={26}
        aria-label={t(isBroken ? 'files.dismiss' : 'files.cancel', { name })}
        title={t(isBroken ? 'files.dismiss' : 'files.cancel', { name })}
        onClick={() => queue.remove(key)}
      >
        <X size={14} />
      </ActionIcon>
      <span className="visually-hidden">{formatSize(size)}</span>
    </li>
  );
}

function stateText(upload: Upload, maximumBytes: number, t: ReturnType<typeof useText>): string {
  const { state, share, size } = upload;
  if (state === 'refused') return t('files.tooLarge', { size: formatSize(size), max: formatSize(maximumBytes) });
  if (state === 'failed') return failureText(upload.failure, t);
  if (state === 'waiting') return t('files.waiting');
  if (share >= 1) return t('files.storing');
  return t('files.sent', { percent: Math.floor(share * 100), size: formatSize(size) });
}
