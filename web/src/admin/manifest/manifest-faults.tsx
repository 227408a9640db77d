import { Button } from '@mantine/core';
import { Notice } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import classes from './manifest.module.css';
import type { ManifestSource } from './manifest-input.tsx';
import { lineInMessage, lineOfPath } from './manifest-lines.ts';
import type { ManifestFault } from './use-provision.ts';

const shownAtMost = 50;

/** The faults, each next to the line it is about. */
export function ManifestFaults({ source, faults }: { source: ManifestSource; faults: readonly ManifestFault[] }) {
  const t = useText();
  const text = 'text' in source ? source.text : '';
  const lines = text.split('\n');
  return (
    <Notice kind="failure" title={t('manifest.faulty', { count: faults.length })}>
      {t('manifest.faultyText')}
      <ol className={classes.faults}>
        {faults.slice(0, shownAtMost).map((fault) => {
          const line = fault.line ?? lineOfPath(text, fault.path) ?? lineInMessage(fault.message);
          return (
            <li key={`${fault.path} ${fault.message}`} className={classes.fault}>
              {line === undefined ? null : (
                <div className={classes.line}>
                  <Button
                    size="compact-xs"
                    variant="default"
                    onClick={() => showLine(line)}
                    aria-label={t('manifest.goToLine', { line })}
                  >
                    {line}
                  </Button>
                  <code>{lines[line - 1]?.trim()}</code>
                </div>
              )}
              <div>
                {fault.path === '' ? null : <code className={classes.path}>{fault.path}</code>} {fault.message}
              </div>
            </li>
          );
        })}
      </ol>
      {faults.length > shownAtMost ? t('manifest.moreFaults', { count: faults.length - shownAtMost }) : null}
    </Notice>
  );
}

/** Selects the line in the field and scrolls to it. */
function showLine(line: number): void {
  const field = document.getElementById('manifest-text');
  if (!(field instanceof HTMLTextAreaElement)) return;
  const lines = field.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  field.focus();
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  field.scrollTop = (field.scrollHeight / lines.length) * Math.max(0, line - 4);
}
