import '../forms/forms.css';
import { Textarea, TextInput } from '@mantine/core';
import { useText } from '../i18n/i18n.ts';

const plain = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;

type Form = { getInputProps(path: 'command' | 'args' | 'env'): object };

/**
 * Fields for a program in the workspace: command, arguments and environment; for an offered server, only the
 * environment.
 */
export function ProgramFields({ form, isOffered }: { form: Form; isOffered: boolean }) {
  const t = useText();
  return (
    <>
      {isOffered ? null : <CommandFields form={form} hint={t('mcp.commandHint')} />}
      <Textarea
        {...form.getInputProps('env')}
        {...plain}
        label={t('mcp.env')}
        description={t('mcp.envHint')}
        placeholder="API_KEY=…"
        autosize
        minRows={2}
        maxRows={10}
      />
    </>
  );
}

/** The program and its arguments. */
export function CommandFields({
  form,
  hint,
}: {
  form: { getInputProps(path: 'command' | 'args'): object };
  hint?: string;
}) {
  const t = useText();
  return (
    <>
      <TextInput
        {...form.getInputProps('command')}
        {...plain}
        label={t('mcp.command')}
        description={hint}
        placeholder="npx"
      />
      <Textarea
        {...form.getInputProps('args')}
        {...plain}
        label={t('mcp.args')}
        description={t('mcp.argsHint')}
        placeholder={'-y\n@modelcontextprotocol/server-everything'}
        autosize
        minRows={2}
        maxRows={10}
      />
    </>
  );
}
