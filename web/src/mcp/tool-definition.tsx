import type { McpTool } from '@homeport/contracts/mcp';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { type TextId, useText } from '../i18n.ts';
import classes from './mcp.module.css';
import { ShownText } from './shown-text.tsx';
import { type DiffRun, diffTool, type FieldDiff, fieldText, type ToolField, toolFields } from './tool-diff.ts';
import { countHidden } from './visible-text.ts';

export const fieldNames: Record<ToolField, TextId> = {
  name: 'mcp.field.name',
  title: 'mcp.field.title',
  description: 'mcp.field.description',
  inputSchema: 'mcp.field.inputSchema',
  outputSchema: 'mcp.field.outputSchema',
  annotations: 'mcp.field.annotations',
};

/** A whole definition, every field in full. */
export function ToolDefinition({ tool, mark }: { tool: McpTool; mark?: 'added' | 'removed' }) {
  const t = useText();
  const fields = toolFields.flatMap((field) => {
    const text = fieldText(tool, field);
    return field === 'name' || text === undefined ? [] : [{ field, text }];
  });
  return (
    <ToolBox name={tool.name} mark={mark} hidden={hiddenIn([tool.name, ...fields.map(({ text }) => text)])}>
      {fields.map(({ field, text }) => (
        <Field key={field} label={t(fieldNames[field])} isCode={isCode(field)}>
          <ShownText text={text} />
        </Field>
      ))}
    </ToolBox>
  );
}

/** What changed in a definition since it was trusted, field by field. */
export function ToolChange({ name, before, after }: { name: string; before: McpTool; after: McpTool }) {
  const t = useText();
  const fields = diffTool(before, after);
  const added = fields.flatMap((field) => field.runs.filter((run) => run.kind === 'added').map((run) => run.text));
  return (
    <ToolBox name={name} mark="modified" hidden={hiddenIn(added)}>
      {fields.map((field) => (
        <Field key={field.field} label={fieldLabel(t(fieldNames[field.field]), field, t)} isCode={isCode(field.field)}>
          {field.runs.map((run, index) => (
            <Run key={index} run={run} />
          ))}
        </Field>
      ))}
    </ToolBox>
  );
}

function fieldLabel(name: string, { kind }: FieldDiff, t: (id: TextId, values?: Record<string, string>) => string) {
  return kind === 'modified' ? name : t(kind === 'added' ? 'mcp.fieldAdded' : 'mcp.fieldRemoved', { name });
}

function Run({ run }: { run: DiffRun }) {
  const t = useText();
  if (run.kind === 'same') return <ShownText text={run.text} />;
  const Tag = run.kind === 'added' ? 'ins' : 'del';
  return (
    <Tag className={classes[run.kind]}>
      <span className="visually-hidden">{t(run.kind === 'added' ? 'mcp.runAdded' : 'mcp.runRemoved')} </span>
      <ShownText text={run.text} />
    </Tag>
  );
}

function ToolBox({
  name,
  mark,
  hidden,
  children,
}: {
  name: string;
  mark?: 'added' | 'removed' | 'modified' | undefined;
  hidden: number;
  children: ReactNode;
}) {
  const t = useText();
  return (
    <section className={classes.tool} data-mark={mark} aria-label={name}>
      <h3 className={classes.toolName}>
        <code>
          <ShownText text={name} />
        </code>
        {mark ? (
          <span className={classes.mark} data-mark={mark}>
            {t(`mcp.mark.${mark}`)}
          </span>
        ) : null}
      </h3>
      {hidden > 0 ? (
        <p className={classes.warning}>
          <TriangleAlert size={15} aria-hidden className={classes.warningIcon} />
          {t('mcp.hiddenWarning', { count: hidden })}
        </p>
      ) : null}
      <dl className={classes.fields}>{children}</dl>
    </section>
  );
}

function Field({ label, isCode, children }: { label: string; isCode: boolean; children: ReactNode }) {
  return (
    <div>
      <dt className={classes.fieldName}>{label}</dt>
      <dd className={isCode ? classes.code : classes.prose}>{children}</dd>
    </div>
  );
}

function isCode(field: ToolField): boolean {
  return field === 'inputSchema' || field === 'outputSchema' || field === 'annotations';
}

function hiddenIn(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + countHidden(text), 0);
}
