//! Commands put together from one that acts and many that look, in every way in which a shell lets one stand in another.

/// Commands that only look.
const LOOKING: &[&str] = &[
    "ls",
    "cat a.txt",
    "grep -n x a.txt",
    "git status",
    "true",
    "echo \"a b\"",
    "wc -l < a.txt",
    "head -n 1 'b c'",
];

/// Commands that act.
pub(super) const ACTING: &[&str] = &[
    "touch x",
    "make",
    "./run.sh",
    "git commit -m x",
    "tee out",
    "curl u",
    "echo x > out",
    "sh s.sh",
    "find . -delete",
    "sed -i s/a/b/ f",
    "python3 s.py",
    "rm -r b",
];

/// Where a command can stand: `C` is it, `L` one that looks.
const FORMS: &[&str] = &[
    "L; C",
    "C; L",
    "L && C",
    "C || L",
    "L | C",
    "C | L",
    "L\nC",
    "(C)",
    "{ C; }",
    "! C",
    "C & L",
    "L & C",
    "echo $(C)",
    "echo \"a $(C) b\"",
    "echo `C`",
    "echo \"`C`\"",
    "cat <(C)",
    "ls 'a'\"$(C)\"",
    "cat < $(C)",
    "if C; then L; fi",
    "if L; then C; else L; fi",
    "if L; then L; elif C; then L; fi",
    "while L; do C; done",
    "until C; do L; done",
    "for i in a b; do C; done",
    "for i in $(C); do L; done",
    "case x in x) C;; *) L;; esac",
    "case $(C) in x) L;; esac",
    "case x in $(C)) L;; esac",
    "f() { C; }; f",
    "function f { C; }; f",
    "[[ $(C) ]]",
    "[[ -n $(C) && a == b ]]",
    "[[ a =~ $(C) ]]",
    "[ \"$(C)\" ]",
    "test -n \"$(C)\"",
    "echo ${x:-$(C)}",
    "echo \"${x:-$(C)}\"",
    "echo \"${x/a/$(C)}\"",
    "echo ${x#$(C)}",
    "echo ${a[$(C)]}",
    "a[$(C)]=1",
    "a=($(C))",
    "x=$(C) L",
    "x=$(C)",
    "export x=$(C)",
    "echo $(( $(C) + 1 ))",
    "(( a = $(C) ))",
    "for (( i = $(C); i < 1; i++ )); do L; done",
    "cat <<E\n$(C)\nE\n",
    "cat <<-E\n\t`C`\n\tE\n",
    "cat <<E | L\n${x:-$(C)}\nE\n",
    "cat <<< \"$(C)\"",
    "L | while read -r l; do C; done",
    "L 2>&1 | C",
    "time C",
    "L > /dev/null; C",
    "echo ${x:=$(C)}",
    "printf '%s' \"$(C)\"",
    "echo \"$(L)$(C)\"",
    "L <(C)",
    "echo \"${x:-\"$(C)\"}\"",
    "echo $'a' $(C)",
    "echo {a,$(C)}",
    "eval \"$(C)\"",
    "coproc C",
    "select i in a; do C; done",
];

/// Choices that follow from a number.
pub(super) struct Choices(pub(super) u64);

impl Choices {
    pub(super) fn of<'a>(&mut self, from: &[&'a str]) -> &'a str {
        // Knuth's constants; the high bits are the good ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from[usize::try_from(self.0 >> 33).unwrap() % from.len()]
    }
}

/// `core` in so many forms around one another.
pub(super) fn composed(core: &str, depth: usize, choices: &mut Choices) -> String {
    (0..depth).fold(core.to_owned(), |inside, _| {
        let mut form = choices.of(FORMS);
        // Marks and quotes inside these would have to be escaped.
        while form.contains('`') && inside.contains(['`', '\\', '"', '$']) {
            form = choices.of(FORMS);
        }
        let mut outside = String::new();
        for c in form.chars() {
            match c {
                'C' => {
                    // Two brackets in a row would begin arithmetic.
                    if outside.ends_with('(') && inside.starts_with('(') {
                        outside.push(' ');
                    }
                    outside.push_str(&inside);
                }
                'L' => outside.push_str(choices.of(LOOKING)),
                c => outside.push(c),
            }
        }
        outside
    })
}
