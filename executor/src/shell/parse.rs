//! Reads a shell command into its simple commands, redirects and pipes, through a grammar and never by splitting text.

mod words;

use tree_sitter::{Node, Parser};

use super::meaning::{PIPED, Vars};
use super::script::{Redirect, Script, Simple, Word};
use super::survey::{is_quoted_heredoc, survey};
use super::word::is_deceptive;
use super::wrap::{self, Started};

/// How deep wrappers and wrapped scripts (`sh -c`, `eval`) are looked into; more is odd, not ignored.
const MAX_DEPTH: usize = 12;

/// Parses `source`.
pub fn parse(source: &str) -> Script {
    let mut walk =
        Walk { source, script: Script::default(), dir: Some(String::new()), vars: Vars::default(), depth: 0 };
    walk.run();
    walk.script
}

/// Parses what a command of an outer script starts.
fn parse_started(started: Started, depth: usize, vars: &Vars) -> Script {
    let mut script = Script::default();
    if depth > MAX_DEPTH {
        script.odd.push("scripts are nested too deep".to_owned());
        return script;
    }
    match started {
        Started::Script(source) => {
            let mut walk = Walk { source: &source.text, script, dir: None, vars: vars.clone(), depth };
            walk.run();
            script = walk.script;
            if !source.known {
                // The known rest may still show a danger, so it was looked at all the same.
                script.odd.push(format!("the script {} is only known when it runs", source.text));
            }
        }
        Started::Command(words) => {
            let mut walk = Walk { source: "", script, dir: None, vars: vars.clone(), depth };
            walk.push(Simple { words, ..Simple::default() });
            script = walk.script;
        }
    }
    script
}

/// Words that begin, divide or end a compound command, and are no programs where one is expected.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "while", "until", "for", "select", "do", "done", "case", "esac",
    "function", "{", "}", "!", "[[",
];

/// Levels of the syntax tree that are walked, which is done by recursion.
const MAX_NESTING: usize = 400;

struct Walk<'a> {
    source: &'a str,
    script: Script,
    /// Follows `cd` through the text; order of text is close enough to order of running for the danger list.
    dir: Option<String>,
    /// What its variables may hold, in the same order.
    vars: Vars,
    depth: usize,
}

#[derive(Clone, Default)]
struct Around {
    background: bool,
    upstream: Vec<usize>,
    function: Option<String>,
}

impl<'a> Walk<'a> {
    fn run(&mut self) {
        if let Some(c) = self.source.chars().find(|&c| is_deceptive(c)) {
            self.odd(format!("it holds the invisible character U+{:04X}", u32::from(c)));
        }
        let mut parser = Parser::new();
        if parser.set_language(&tree_sitter_bash::LANGUAGE.into()).is_err() {
            return self.odd("the shell grammar could not be loaded");
        }
        let Some(tree) = parser.parse(self.source, None) else {
            return self.odd("it could not be parsed");
        };
        let root = tree.root_node();
        if root.has_error() {
            self.odd("it could not be parsed as a shell command");
        }
        let (depth, hiding) = survey(root, self.source);
        if depth > MAX_NESTING {
            return self.odd("it is nested too deep");
        }
        // The grammar does not look into every part of an expansion; the shell does.
        if let Some(leaf) = hiding {
            self.odd(format!("a substitution may be hidden in {}", self.text(leaf)));
        }
        self.children(root, &Around::default());
        let mut cursor = root.walk();
        let remark = root.named_child_count() > 0
            && root.named_children(&mut cursor).all(|child| child.kind() == "comment");
        if self.script.commands.is_empty() && self.script.odd.is_empty() && !remark {
            self.odd("it holds no command");
        }
    }

    fn odd(&mut self, what: impl Into<String>) {
        self.script.odd.push(what.into());
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    /// Walks the statements below `node`; whatever else stands there is scanned for substitutions.
    fn children(&mut self, node: Node<'_>, around: &Around) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            let mut around = around.clone();
            let next = child.next_sibling().map_or("", |next| next.kind());
            around.background |= next == "&";
            if next == ";;" && node.kind() != "case_item" {
                self.odd("it could not be parsed as a shell command");
            }
            self.statement(child, &around);
        }
    }

    fn statement(&mut self, node: Node<'_>, around: &Around) {
        match node.kind() {
            "comment" | "variable_name" | "file_descriptor" => {}
            // `((i++))`: it counts, and what it may start is in a substitution.
            "postfix_expression" | "unary_expression" | "binary_expression" | "parenthesized_expression"
                if node.parent().is_some_and(|around| self.text(around).starts_with("((")) =>
            {
                self.scan(node);
            }
            "for_statement" => {
                self.bind_loop(node);
                self.children(node, around);
            }
            "list" | "compound_statement" | "subshell" | "do_group" | "if_statement" | "elif_clause"
            | "else_clause" | "while_statement" | "case_statement" | "case_item" | "negated_command" => {
                self.children(node, around)
            }
            "pipeline" => {
                let mut around = around.clone();
                let mut cursor = node.walk();
                for stage in node.named_children(&mut cursor) {
                    let first = self.script.commands.len();
                    self.statement(stage, &around);
                    around.upstream.extend(first..self.script.commands.len());
                }
            }
            "redirected_statement" => self.redirected(node, around),
            "command" => self.command(node, around),
            "declaration_command" | "unset_command" => {
                let keyword = node.child(0).map_or("", |child| self.text(child));
                let mut simple = self.simple(around);
                simple.words.push(Word::known(keyword));
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    self.assign(child);
                    let (mut word, inner) = self.word(child);
                    word.known = false;
                    simple.words.push(word);
                    simple.inner.extend(inner);
                }
                self.push(simple);
            }
            "test_command" => {
                let mut simple = self.simple(around);
                simple.words.push(Word::known("["));
                simple.inner = self.scan(node);
                self.push(simple);
            }
            "variable_assignment" | "variable_assignments" => {
                let mut simple = self.simple(around);
                simple.assigns.push(self.text(node).split('=').next().unwrap_or_default().to_owned());
                simple.inner = self.scan(node);
                self.assign(node);
                self.push(simple);
            }
            "function_definition" => {
                let name = node.child_by_field_name("name").map_or("", |name| self.text(name)).to_owned();
                self.script.functions.push(name.clone());
                if let Some(body) = node.child_by_field_name("body") {
                    let around = Around { function: Some(name), ..around.clone() };
                    self.statement(body, &around);
                }
            }
            "word"
            | "string"
            | "raw_string"
            | "concatenation"
            | "number"
            | "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "brace_expression"
            | "extglob_pattern" => {
                self.scan(node);
            }
            other => {
                self.odd(format!("it holds a construct that is not judged here ({other})"));
                self.scan(node);
            }
        }
    }

    fn simple(&self, around: &Around) -> Simple {
        Simple {
            background: around.background,
            upstream: around.upstream.clone(),
            function: around.function.clone(),
            dir: self.dir.clone(),
            ..Simple::default()
        }
    }

    fn redirected(&mut self, node: Node<'_>, around: &Around) {
        let first = self.script.commands.len();
        let mut holder = Simple::default();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if !self.redirect(child, &mut holder, around) {
                self.statement(child, around);
            }
        }
        if self.script.commands.len() == first {
            let simple = self.simple(around);
            self.script.commands.push(simple);
        }
        for simple in self.script.commands.iter_mut().skip(first) {
            simple.redirects.extend(holder.redirects.iter().cloned());
            simple.inner.extend(holder.inner.iter().copied());
        }
        if holder.stdin.is_none() {
            return;
        }
        // A here-document for a shell is a script, which is only known now.
        for index in first..self.script.commands.len() {
            if let Some(simple) = self.script.commands.get_mut(index) {
                simple.stdin = holder.stdin.clone();
            }
            self.unwrap_stdin(index);
        }
    }

    /// Takes `node` in if it is a redirect.
    fn redirect(&mut self, node: Node<'_>, into: &mut Simple, around: &Around) -> bool {
        match node.kind() {
            "file_redirect" => {
                let mut cursor = node.walk();
                let op = node
                    .children(&mut cursor)
                    .find(|child| !child.is_named())
                    .map_or("", |child| self.text(child))
                    .to_owned();
                let mut cursor = node.walk();
                let targets: Vec<_> = node.children_by_field_name("destination", &mut cursor).collect();
                if targets.is_empty() {
                    into.redirects.push(Redirect { op: op.clone(), target: Word::known("-") });
                }
                for target in targets {
                    let (target, inner) = self.word(target);
                    into.redirects.push(Redirect { op: op.clone(), target });
                    into.inner.extend(inner);
                }
                true
            }
            "herestring_redirect" => {
                if let Some(value) = node.named_child(0) {
                    let (word, inner) = self.word(value);
                    into.stdin = Some(word);
                    into.inner.extend(inner);
                }
                true
            }
            "heredoc_redirect" => {
                self.heredoc(node, into, around);
                true
            }
            _ => false,
        }
    }

    /// A here-document; the grammar hangs what follows its mark on the same line below it.
    fn heredoc(&mut self, node: Node<'_>, into: &mut Simple, around: &Around) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "heredoc_start" | "heredoc_end" | "file_descriptor" => {}
                "heredoc_body" => {
                    let inner = self.scan(child);
                    let plain = inner.is_empty() && !self.text(child).contains(['$', '`']);
                    let known = plain || is_quoted_heredoc(child, self.source);
                    into.stdin = Some(Word { text: self.text(child).to_owned(), known, ..Word::default() });
                    into.inner.extend(inner);
                }
                "file_redirect" | "herestring_redirect" => {
                    self.redirect(child, into, around);
                }
                "pipeline" | "command" | "list" | "redirected_statement" => {
                    let upstream = (0..self.script.commands.len()).collect();
                    self.statement(child, &Around { upstream, ..around.clone() });
                }
                _ => {
                    self.odd("something follows the mark of a here-document");
                    self.scan(child);
                }
            }
        }
    }

    fn command(&mut self, node: Node<'_>, around: &Around) {
        let mut simple = self.simple(around);
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => {
                    let name = child.child_by_field_name("name").map_or("", |name| self.text(name));
                    simple.assigns.push(name.to_owned());
                    let inner = self.scan(child);
                    simple.inner.extend(inner);
                    self.assign(child);
                }
                "command_name" => {
                    let (word, inner) = match child.named_child(0) {
                        Some(name) => self.word(name),
                        None => (Word { text: self.text(child).to_owned(), ..Word::default() }, Vec::new()),
                    };
                    simple.words.push(word);
                    simple.inner.extend(inner);
                }
                "comment" => {}
                _ if self.redirect(child, &mut simple, around) => {}
                "subshell" => {
                    // `time (make)` is a word before a compound command.
                    if !matches!(simple.words.as_slice(), [only] if only.text == "time") {
                        self.odd("a bracket stands where a word is expected");
                    }
                    self.statement(child, around);
                }
                _ => {
                    let (word, inner) = self.word(child);
                    simple.words.push(word);
                    simple.inner.extend(inner);
                }
            }
        }
        self.push(simple);
    }

    /// Records a command, what its wrappers start, and where a `cd` leads.
    fn push(&mut self, simple: Simple) {
        match simple.words.first() {
            Some(name) if !name.known || name.glob => {
                self.odd(format!("the command {} is only known when it runs", name.text));
            }
            // Behind `!`, `time` and `coproc` the grammar takes a loop or a condition for a program and its arguments.
            Some(name) if RESERVED.contains(&name.text.as_str()) => {
                self.odd(format!("the word {} stands where a program is expected", name.text));
            }
            _ => {}
        }
        if matches!(simple.name(), "cd" | "pushd" | "popd") {
            self.dir = match simple.args() {
                [] => Some("~".to_owned()),
                [to] if to.text.starts_with(['/', '~']) || to.text.starts_with("$HOME") => {
                    Some(to.text.clone())
                }
                [to] if to.known && to.text != "-" => self.dir.as_deref().map(|dir| match dir {
                    "" => to.text.clone(),
                    dir => format!("{dir}/{}", to.text),
                }),
                _ => None,
            };
        }
        if matches!(simple.name(), "read" | "mapfile" | "readarray") {
            for word in simple.args().iter().filter(|word| !word.text.starts_with('-')) {
                self.vars.add(&word.text, vec![PIPED.to_string()]);
            }
            self.vars.add("REPLY", vec![PIPED.to_string()]);
        }
        let index = self.script.commands.len();
        let mut started = wrap::started_by(&simple);
        if let Some((name, rest)) = simple.words.split_first()
            && RESERVED.contains(&name.text.as_str())
            && !rest.is_empty()
        {
            started.push(Started::Command(rest.to_vec()));
        }
        self.script.commands.push(simple);
        for started in started {
            self.take_in(index, parse_started(started, self.depth + 1, &self.vars));
        }
        self.unwrap_stdin(index);
    }

    fn unwrap_stdin(&mut self, index: usize) {
        let Some(simple) = self.script.commands.get(index) else { return };
        if let Some(started) = wrap::fed_to_shell(simple) {
            self.take_in(index, parse_started(started, self.depth + 1, &self.vars));
        }
    }

    /// Adds what the command at `index` starts, in its surroundings.
    fn take_in(&mut self, index: usize, started: Script) {
        let Some(outer) = self.script.commands.get(index).cloned() else { return };
        let first = self.script.commands.len();
        self.script.append(started);
        for simple in self.script.commands.iter_mut().skip(first) {
            simple.upstream.extend(outer.upstream.iter().copied());
            simple.background |= outer.background;
            simple.via.get_or_insert_with(|| outer.name().to_owned());
            if simple.function.is_none() {
                simple.function = outer.function.clone();
            }
            if simple.dir.is_none() {
                simple.dir = outer.dir.clone();
            }
        }
    }
}
