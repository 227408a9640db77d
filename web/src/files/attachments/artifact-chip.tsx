import 'virtual:texts/files';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { previewAddress } from '../file-address.ts';
import classes from '../files.module.css';
import { fileIcon, previewKind } from '../preview/file-kind.ts';

/** A file in a message: opens in the side panel. Pictures are shown directly. */
export function ArtifactChip({
  chatId,
  id,
  filename,
  mediaType,
}: {
  chatId: string;
  id: string;
  filename: string;
  mediaType: string;
}) {
  const t = useText();
  const [isBroken, setBroken] = useState(false);
  const Icon = fileIcon({ filename, mediaType });
  const isPicture = previewKind({ filename, mediaType }) === 'image' && !isBroken;
  return (
    <Link
      to="/c/$chatId"
      params={{ chatId }}
      search={{ file: id }}
      className={isPicture ? classes.pictureChip : classes.fileChip}
      aria-label={t('files.open', { name: filename })}
      title={filename}
    >
      {isPicture ? (
        <img
          src={previewAddress({ chatId }, id)}
          alt={filename}
          className={classes.picture}
          loading="lazy"
          onError={() => setBroken(true)}
        />
      ) : (
        <>
          <Icon size={16} aria-hidden className={classes.icon} />
          <bdi className={classes.name}>{filename}</bdi>
        </>
      )}
    </Link>
  );
}
