import 'virtual:texts/files';
import { useMemo } from 'react';
import { useText } from '../../i18n/i18n.ts';
import classes from '../files.module.css';
import { parseTable } from './csv.ts';
import previewClasses from './file-preview.module.css';

/** More rows, columns or cells make the page slow. */
const shownRows = 500;
const shownColumns = 200;
const shownCells = 10_000;

/** The rows of a CSV or TSV text, from its beginning. */
export function TableView({ text, name }: { text: string; name: string }) {
  const t = useText();
  const { head, body, isCut, isNarrowed } = useMemo(() => readTable(text), [text]);
  if (!head) return null;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={previewClasses.tableBox} tabIndex={0} aria-label={t('files.previewOf', { name })}>
        <table className={previewClasses.table}>
          <thead>
            <tr>
              {head.map((cell, index) => (
                <th key={index} scope="col">
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.map((row, index) => (
              <tr key={index}>
                {row.map((cell, at) => (
                  <td key={at}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {isCut ? <p className={classes.quiet}>{t('files.rowsCut', { count: body.length })}</p> : null}
      {isNarrowed ? <p className={classes.quiet}>{t('files.columnsCut', { count: shownColumns })}</p> : null}
    </>
  );
}

function readTable(text: string) {
  const { rows, isCut } = parseTable(text, shownRows + 1);
  const widest = Math.max(1, ...rows.map(({ length }) => length));
  const columns = Math.min(widest, shownColumns);
  const fitting = Math.floor(shownCells / columns);
  const [head, ...body] = rows.slice(0, fitting + 1).map((row) => row.slice(0, columns));
  return { head, body, isCut: isCut || rows.length > fitting + 1, isNarrowed: widest > columns };
}
