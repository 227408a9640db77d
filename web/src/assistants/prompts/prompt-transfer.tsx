import '../../layout/dialogs/dialogs.css';
import { Button, Modal } from '@mantine/core';
import { FileDown, FileUp } from 'lucide-react';
import { useRef, useState } from 'react';
import formClasses from '../../forms/form.module.css';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { useReturnFocus } from '../../layout/dialogs/use-return-focus.ts';
import { Card } from '../../layout/section.tsx';
import classes from './prompts.module.css';
import { type ImportReport, usePromptTransfer } from './use-prompt-transfer.ts';

/** Prompts out to a file and in from one, with a report. */
export function PromptTransfer({ hasPrompts }: { hasPrompts: boolean }) {
  const t = useText();
  const input = useRef<HTMLInputElement>(null);
  const { importFile, exportAll, progress, failure } = usePromptTransfer();
  const [report, setReport] = useState<ImportReport>();
  const take = async (file: File | undefined) => {
    if (file) setReport(await importFile(file));
  };
  const isBusy = progress !== undefined;
  return (
    <Card title={t('prompts.transfer')} text={t('prompts.transferText')}>
      <div className={classes.buttons}>
        <Button
          variant="default"
          leftSection={<FileUp size={15} aria-hidden />}
          aria-disabled={isBusy}
          onClick={() => !isBusy && input.current?.click()}
        >
          {progress ? t('prompts.importing', progress) : t('prompts.import')}
        </Button>
        {hasPrompts ? (
          <Button variant="default" leftSection={<FileDown size={15} aria-hidden />} onClick={() => void exportAll()}>
            {t('prompts.export')}
          </Button>
        ) : null}
      </div>
      <FormFailure failure={failure} />
      <input
        ref={input}
        type="file"
        hidden
        accept="application/json,.json"
        aria-label={t('prompts.import')}
        onChange={(event) => {
          void take(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
      {report ? <Report report={report} onClose={() => setReport(undefined)} /> : null}
    </Card>
  );
}

function Report({ report, onClose }: { report: ImportReport; onClose: () => void }) {
  const t = useText();
  useReturnFocus();
  const { taken, refused, isNoList } = report;
  return (
    <Modal opened onClose={onClose} title={t('prompts.reportTitle')} size="32rem">
      <div className={formClasses.form}>
        {isNoList ? (
          <Notice kind="failure">{t('prompts.noList')}</Notice>
        ) : (
          <Notice kind={taken > 0 ? 'success' : 'info'}>{t('prompts.taken', { count: taken })}</Notice>
        )}
        {refused.length > 0 ? (
          <section aria-label={t('prompts.refused', { count: refused.length })}>
            <h3 className={classes.refusedTitle}>{t('prompts.refused', { count: refused.length })}</h3>
            <ul className={classes.refused}>
              {refused.map(({ label, text }, index) => (
                <li key={index}>
                  <strong>{label}</strong> {text}
                </li>
              ))}
            </ul>
          </section>
        ) : null}
        <div className={formClasses.actions}>
          <Button onClick={onClose} data-autofocus>
            {t('app.close')}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
