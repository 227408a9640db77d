import 'virtual:texts/files';
import { Button } from '@mantine/core';
import { useText } from '../../i18n/i18n.ts';
import previewClasses from './file-preview.module.css';

/** Switch between two views of a file. */
export function TwoWays({
  first,
  second,
  isSecond,
  onChoose,
}: {
  first: string;
  second: string;
  isSecond: boolean;
  onChoose: (isSecond: boolean) => void;
}) {
  const t = useText();
  return (
    <fieldset className={previewClasses.choice} aria-label={t('files.show')}>
      {[first, second].map((label, index) => {
        const isChosen = isSecond === (index === 1);
        return (
          <Button
            key={label}
            size="compact-xs"
            variant={isChosen ? 'light' : 'subtle'}
            aria-pressed={isChosen}
            onClick={() => onChoose(index === 1)}
          >
            {label}
          </Button>
        );
      })}
    </fieldset>
  );
}
