import './progress.css';
import { Button, FileButton, Progress } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ApiFailure } from '../api/api-failure.ts';
import { uploadArchive } from '../api/upload.ts';
import { FormFailure } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { Card } from '../layout/section.tsx';
import { showFailure } from '../layout/toasts.tsx';
import classes from './import-export.module.css';
import { ImportView } from './import-view.tsx';
import { importsQuery } from './imports-api.ts';

/** Takes an archive, and shows what becomes of it. */
export function ImportCard() {
  const t = useText();
  const queries = useQueryClient();
  const { data: imports = [], error } = useQuery(importsQuery);
  const [upload, setUpload] = useState<{ name: string; share: number }>();
  const [isOver, setOver] = useState(false);
  const stop = useRef<AbortController>(undefined);
  const [newest, ...earlier] = imports;
  const take = async (file: File | null | undefined) => {
    if (!file || upload) return;
    const controller = new AbortController();
    stop.current = controller;
    setUpload({ name: file.name, share: 0 });
    try {
      const onProgress = (share: number) => setUpload({ name: file.name, share });
      await uploadArchive(file, { onProgress, signal: controller.signal });
    } catch (failure) {
      if (failure instanceof ApiFailure) showFailure(t('moving.uploadFailed'), failureText(failure, t));
    }
    setUpload(undefined);
    await queries.invalidateQueries({ queryKey: importsQuery.queryKey });
  };
  return (
    <Card title={t('moving.import')} text={t('moving.importText')}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a short cut for the button inside. */}
      <div
        className={classes.drop}
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          event.stopPropagation();
          setOver(false);
          void take(event.dataTransfer.files[0]);
        }}
      >
        {upload ? (
          <div className={classes.upload} role="status">
            <span>{t('moving.uploading', { name: upload.name })}</span>
            <Progress value={upload.share * 100} aria-label={t('moving.uploading', { name: upload.name })} />
            <Button size="compact-sm" variant="default" onClick={() => stop.current?.abort()}>
              {t('moving.uploadCancel')}
            </Button>
          </div>
        ) : (
          <>
            <span>{t('moving.drop')}</span>
            <FileButton onChange={(file) => void take(file)} accept=".zip,.json,.db,application/zip,application/json">
              {(props) => (
                <Button {...props} variant="default">
                  {t('moving.choose')}
                </Button>
              )}
            </FileButton>
          </>
        )}
      </div>
      <FormFailure failure={error ?? undefined} />
      {newest ? <ImportView key={newest.id} record={newest} isOpen /> : null}
      {earlier.length > 0 ? (
        <>
          <h3 className={classes.heading}>{t('moving.earlier')}</h3>
          {earlier.map((record) => (
            <ImportView key={record.id} record={record} />
          ))}
        </>
      ) : null}
    </Card>
  );
}
